/* nosymbol: a shared library, but no kernel library. */
int nosymbol_answer(void);
int nosymbol_answer(void) { return 42; }
