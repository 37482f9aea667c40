/* drawing.h - inside reports/page: the pictures of studies. */
#ifndef ATTEST_DRAWING_H
#define ATTEST_DRAWING_H

#include <stdio.h>

/* DIR/NAME.svg as a figure with `caption` (HTML), and on narrow screens DIR/NAME-narrow.svg in its place, where that
 * is there.  A file that holds more than a drawing (a script, an address elsewhere) is not shown, and the page says so;
 * one that is not there leaves an empty figure. */
void attest_drawing_print(FILE *out, const char *dir, const char *name, const char *caption);

#endif
