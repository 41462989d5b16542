#include "condense/letters.h"

bool wr_same_as_any(weir_span text, const weir_span *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text.len == words[i].len && text.ptr[0] == words[i].ptr[0] &&
            wr_span_eq(text, words[i]))
            return true;
    return false;
}

bool wr_same_as_any_folded(weir_span text, const weir_span *words, size_t count)
{
    if (!text.len)
        return false;
    char first = wr_fold(text.ptr[0]);
    for (size_t i = 0; i < count; i++)
        if (text.len == words[i].len && first == words[i].ptr[0] &&
            wr_starts_folded(text, words[i]))
            return true;
    return false;
}

size_t wr_front_of(weir_span text, const weir_span *words, size_t count)
{
    for (size_t i = 0; i < count && text.len; i++)
        if (text.ptr[0] == words[i].ptr[0] && wr_span_starts(text, words[i]))
            return words[i].len;
    return 0;
}

size_t wr_front_of_folded(weir_span text, const weir_span *words, size_t count)
{
    if (!text.len)
        return 0;
    char first = wr_fold(text.ptr[0]);
    for (size_t i = 0; i < count; i++)
        if (first == words[i].ptr[0] && wr_starts_folded(text, words[i]))
            return words[i].len;
    return 0;
}

bool wr_ends_in_any(weir_span text, const weir_span *words, size_t count)
{
    for (size_t i = 0; i < count && text.len; i++)
        if (text.ptr[text.len - 1] == words[i].ptr[words[i].len - 1] &&
            wr_span_ends(text, words[i]))
            return true;
    return false;
}
