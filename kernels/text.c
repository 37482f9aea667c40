/* text.c - see text.h. */
#include "kernels/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 character at `at` and its code point; 0: it is none (overlong, a surrogate, beyond 10ffff). */
static size_t decode(uint32_t *code, const unsigned char *at)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const size_t length = at[0] < 0x80             ? 1
                          : (at[0] & 0xe0) == 0xc0 ? 2
                          : (at[0] & 0xf0) == 0xe0 ? 3
                          : (at[0] & 0xf8) == 0xf0 ? 4
                                                   : 0;
    *code = length <= 1 ? at[0] : at[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (at[i] & 0x3f);
    }
    return *code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : length;
}

/* What a terminal or a browser obeys, or does not show: controls, line and paragraph ends, marks of direction. */
static int is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c & 0xfffe) == 0xfffe ||
           (c >= 0xe0000 && c < 0xe1000); /* ..fffe and ..ffff are no characters: XML has none of them */
}

int attest_text_clean(char *to, size_t size, const char *from)
{
    const unsigned char *at = (const unsigned char *)from;
    size_t n = 0;
    int same = 1;
    while (size > 0 && *at) {
        char shown[16];
        uint32_t code;
        const size_t length = decode(&code, at);
        size_t room = length;
        if (length == 0 || is_control(code)) {
            room = (size_t)snprintf(shown, sizeof shown, length > 1 ? "\\u{%04x}" : "\\x%02x", length ? code : at[0]);
            same = 0;
        } else {
            memcpy(shown, at, length);
        }
        if (n + room >= size) {
            same = 0;
            break;
        }
        memcpy(to + n, shown, room);
        n += room;
        at += length ? length : 1;
    }
    if (size > 0)
        to[n] = '\0';
    return same;
}

int attest_text_clean_own(char *text, size_t size)
{
    char given[4096];
    text[size - 1] = '\0';
    snprintf(given, sizeof given, "%s", text);
    return attest_text_clean(text, size, given);
}
