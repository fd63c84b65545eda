// Cells of text files: blanks around them, numbers in seven styles, truth values, UTF-8.
#pragma once

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "border.h"

namespace unnaive {

using std::string_view;

// The decimal mark of numbers, and the mark between thousands; a blank stands for three kinds of blanks.
struct Style {
    char point, thousands;
};
constexpr int N_STYLES = 7;
constexpr Style STYLES[N_STYLES] = {{'.', 0},    {',', 0},   {'.', ','}, {',', '.'},
                                    {'.', '\''}, {',', ' '}, {'.', ' '}};
constexpr u64 POWERS_END = 23;
constexpr double POWERS[POWERS_END] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr i64 EXACT = i64(1) << 53;  // whole numbers up to here are exact as doubles
constexpr i64 ABSENT = std::numeric_limits<i64>::min();  // a missing integer

INLINE bool is_digit(char c) { return unsigned(c - '0') < 10; }
INLINE bool ends_line(char c) { return c == '\n' || c == '\r'; }

// Bytes of the blank that some text starts with, as Python's str.strip sees it; 0 for none.
INLINE int blank_length(const char *text, std::size_t size) {
    const auto *at = reinterpret_cast<const u8 *>(text);
    if (size == 0 || (at[0] > ' ' && at[0] < 0xc2)) return 0;
    if (at[0] <= ' ') return at[0] >= 0x1c || (at[0] >= '\t' && at[0] <= '\r');
    if (size >= 2 && at[0] == 0xc2) return at[1] == 0x85 || at[1] == 0xa0 ? 2 : 0;
    if (size < 3) return 0;
    const u32 mark = u32(at[0]) << 16 | u32(at[1]) << 8 | at[2];
    const bool general = mark >= 0xe28080 && mark <= 0xe2808a;  // U+2000 to U+200A
    return general || mark == 0xe19a80 || mark == 0xe280a8 || mark == 0xe280a9 || mark == 0xe280af ||
                   mark == 0xe2819f || mark == 0xe38080
               ? 3
               : 0;
}

INLINE string_view trimmed(string_view cell) {
    while (const int length = blank_length(cell.data(), cell.size())) cell.remove_prefix(std::size_t(length));
    while (!cell.empty() && (u8(cell.back()) <= ' ' || u8(cell.back()) >= 0x80)) {
        std::size_t length = 0;
        for (std::size_t some = 1; some <= 3 && some <= cell.size() && length == 0; some++)
            if (blank_length(cell.data() + cell.size() - some, some) == int(some)) length = some;
        if (length == 0) break;
        cell.remove_suffix(length);
    }
    return cell;
}

// Whether two texts are the same but for the case of letters; `lower` has small ones.
INLINE bool same_letters(string_view text, string_view lower) {
    if (text.size() != lower.size()) return false;
    for (std::size_t i = 0; i < text.size(); i++)
        if ((text[i] | 0x20) != lower[i]) return false;
    return true;
}

// Length of a mark between thousands at some place; 0 if there is none, or no three digits behind it.
INLINE std::size_t mark_length(string_view rest, char mark) {
    std::size_t length = 0;
    if (mark == ' ') {
        if (rest.starts_with(' ')) length = 1;
        if (rest.starts_with("\u00a0")) length = 2;
        if (rest.starts_with("\u202f")) length = 3;
    } else if (mark != 0 && rest.starts_with(mark)) {
        length = 1;
    }
    if (rest.size() < length + 3) return 0;
    for (std::size_t i = length; i < length + 3; i++)
        if (!is_digit(rest[i])) return 0;
    return length;
}

// Whether a cell is a number of some style; writes it in the notation of C without a plus sign.
inline bool spell(string_view cell, Style style, std::string &plain) {
    plain.clear();
    if (cell.starts_with('-')) plain.push_back('-');
    if (cell.starts_with('-') || cell.starts_with('+')) cell.remove_prefix(1);
    for (string_view word : {"inf", "infinity", "nan"})
        if (same_letters(cell, word)) return plain.append(word), true;
    const auto take_digits = [&] {
        std::size_t length = 0;
        while (length < cell.size() && is_digit(cell[length])) length++;
        plain.append(cell.substr(0, length));
        cell.remove_prefix(length);
        return length;
    };
    const bool starts_with_zero = cell.starts_with('0');
    const std::size_t whole = take_digits();
    if (whole >= 1 && whole <= 3 && !starts_with_zero)
        while (const std::size_t length = mark_length(cell, style.thousands)) {
            plain.append(cell.substr(length, 3));
            cell.remove_prefix(length + 3);
        }
    if (cell.starts_with(style.point)) {
        plain.push_back('.');
        cell.remove_prefix(1);
        if (take_digits() == 0 && (whole == 0 || style.point == ',')) return false;
    } else if (whole == 0) {
        return false;
    }
    if (cell.starts_with('e') || cell.starts_with('E')) {
        plain.push_back('e');
        cell.remove_prefix(1);
        if (cell.starts_with('-')) plain.push_back('-');
        if (cell.starts_with('-') || cell.starts_with('+')) cell.remove_prefix(1);
        if (take_digits() == 0) return false;
    }
    return cell.empty();
}

// The nearest double to a number that `spell` wrote; infinity or zero where there is none.
inline double parse_slowly(const std::string &plain) {
#if defined(__cpp_lib_to_chars) && __cpp_lib_to_chars >= 201611L
    double number;
    if (std::from_chars(plain.data(), plain.data() + plain.size(), number).ec == std::errc()) return number;
#endif
    return std::strtod(plain.c_str(), nullptr);
}

// A number without an exponent or marks between thousands: its digits, and how many are decimals.
struct Plain {
    u64 digits = 0;
    i64 length = 0, decimals = 0;
    bool negative = false;

    // Up to 2^53 · 10^±22 one division gives the nearest double (Clinger 1990); false beyond.
    INLINE bool as_float(double &number) const {
        if (length == 0 || length >= 19 || digits > u64(EXACT) || decimals >= i64(POWERS_END)) return false;
        number = double(digits) / POWERS[decimals];
        if (negative) number = -number;
        return true;
    }
};

// Take the plain number that starts at some place, and go behind it.
INLINE Plain take_plain(const char *&at, const char *end, char point) {
    Plain plain;
    plain.negative = at < end && *at == '-';
    at += plain.negative;
    const char *first = at;
    while (at < end && is_digit(*at)) plain.digits = plain.digits * 10 + u64(*at++ - '0');
    plain.length = at - first;
    if (end - at > 1 && *at == point && is_digit(at[1])) {
        first = ++at;
        while (at < end && is_digit(*at)) plain.digits = plain.digits * 10 + u64(*at++ - '0');
        plain.decimals = at - first;
        plain.length += plain.decimals;
    }
    return plain;
}

INLINE bool parse_number(string_view cell, Style style, double &number) {
    const char *at = cell.data(), *end = at + cell.size();
    if (take_plain(at, end, style.point).as_float(number) && at == end) return true;
    std::string plain;
    if (!spell(cell, style, plain)) return false;
    number = parse_slowly(plain);
    return true;
}

// Bit i tells whether a cell is a number of style i.
inline u8 styles_of(string_view cell) {
    if (cell.empty() || string_view("0123456789+-.,iInN").find(cell[0]) == string_view::npos) return 0;
    std::string plain;
    u8 styles = 0;
    for (int style = 0; style < N_STYLES; style++)
        styles |= u8(u8(spell(cell, STYLES[style], plain)) << style);
    return styles;
}

// Whether a cell is an integer without a plus sign, of any size.
INLINE bool is_whole(string_view cell) {
    if (cell.starts_with('-')) cell.remove_prefix(1);
    for (char c : cell)
        if (!is_digit(c)) return false;
    return !cell.empty();
}

INLINE bool parse_integer(string_view cell, i64 &number) {
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    return error == std::errc() && end == cell.data() + cell.size() && !cell.empty() && number != ABSENT;
}

// 1 for a spelling of true, 0 for one of false, −1 for anything else.
INLINE int parse_truth(string_view cell) {
    if (cell == "true" || cell == "True" || cell == "TRUE") return 1;
    return cell == "false" || cell == "False" || cell == "FALSE" ? 0 : -1;
}

inline bool is_utf8(string_view text) {
    const auto *at = reinterpret_cast<const u8 *>(text.data()), *end = at + text.size();
    while (at < end) {
        const u8 c = *at++;
        if (c < 0x80) continue;
        const int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
        if (c < 0xc2 || c > 0xf4 || end - at < more) return false;
        const u8 low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
        const u8 high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
        if (at[0] < low || at[0] > high) return false;
        for (int i = 1; i < more; i++)
            if ((at[i] & 0xc0) != 0x80) return false;
        at += more;
    }
    return true;
}

}  // namespace unnaive
