/* properties.h - the statements that must hold of a kernel for every input, and what they are made of.
 *
 * Answers: which properties there are (props/property.h has the type and the table), what a trial of one does
 * (trial.h: run the kernel again, compare two runs), and what a relation between two problems is (relation.h).
 * Draws nothing but through props/draw; knows kernels and truth as callbacks only.
 */
#ifndef ATTEST_PROPS_PROPERTIES_H
#define ATTEST_PROPS_PROPERTIES_H

#include "props/properties/relation.h"
#include "props/properties/trial.h"

#endif
