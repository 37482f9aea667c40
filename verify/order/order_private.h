/* order_private.h - inside verify/order: the cells of one range and center. */
#ifndef ATTEST_ORDER_PRIVATE_H
#define ATTEST_ORDER_PRIVATE_H

#include "verify/order/order.h"

attest_status order_cells(attest_orders *orders, const attest_order_request *request, const char *head, double range,
                          const char *center, attest_error *err);

#endif
