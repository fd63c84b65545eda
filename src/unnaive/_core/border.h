// The border between Python and the loops: views of arrays, checks of arguments, bindings.
//
// A kernel takes views. An argument of another type, number of dimensions or memory order is
// refused with a TypeError, never copied: a copy of an output would lose what is written to it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace nb = nanobind;

#if defined(__GNUC__) || defined(__clang__)
#define INLINE inline __attribute__((always_inline))
#define RESTRICT __restrict__
#else
#define INLINE __forceinline
#define RESTRICT __restrict
#endif

namespace unnaive {

using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double TIE = 1e-10;  // docs/mathematics.md: what is as near as this is equal

// A C-contiguous array of N dimensions, not owned. `const T` is read, `T` is written.
template <class T, int N> struct View {
    T *data = nullptr;
    i64 extent[N] = {};

    i64 shape(int axis) const { return extent[axis]; }
    i64 size() const {
        i64 total = 1;
        for (int axis = 0; axis < N; axis++) total *= extent[axis];
        return total;
    }
    T &operator()(i64 i) const {
        static_assert(N == 1);
        return data[i];
    }
    T &operator[](i64 i) const {
        static_assert(N == 1);
        return data[i];
    }
    T &operator()(i64 i, i64 j) const {
        static_assert(N == 2);
        return data[i * extent[1] + j];
    }
    T &operator()(i64 i, i64 j, i64 l) const {
        static_assert(N == 3);
        return data[(i * extent[1] + j) * extent[2] + l];
    }
    T &operator()(i64 i, i64 j, i64 l, i64 m) const {
        static_assert(N == 4);
        return data[((i * extent[1] + j) * extent[2] + l) * extent[3] + m];
    }
    // Element i along the first axis: a view with one dimension less.
    auto at(i64 i) const {
        View<T, (N > 1 ? N - 1 : 1)> inner;
        i64 step = 1;
        for (int axis = 1; axis < N; axis++) {
            inner.extent[axis - 1] = extent[axis];
            step *= extent[axis];
        }
        inner.data = data + i * step;
        return inner;
    }
    // Elements first … last − 1 along the first axis.
    View slice(i64 first, i64 last) const {
        View piece = *this;
        i64 step = 1;
        for (int axis = 1; axis < N; axis++) step *= extent[axis];
        piece.data = data + first * step;
        piece.extent[0] = last - first;
        return piece;
    }
    operator View<const T, N>() const
        requires(!std::is_const_v<T>)
    {
        View<const T, N> same;
        same.data = data;
        for (int axis = 0; axis < N; axis++) same.extent[axis] = extent[axis];
        return same;
    }
};

template <class T> using In1 = View<const T, 1>;
template <class T> using In2 = View<const T, 2>;
template <class T> using In3 = View<const T, 3>;
template <class T> using In4 = View<const T, 4>;
template <class T> using Out1 = View<T, 1>;
template <class T> using Out2 = View<T, 2>;
template <class T> using Out3 = View<T, 3>;
template <class T> using Out4 = View<T, 4>;

// Memory that begins with a cache line, so that no vector of AVX-512 straddles two.
template <class T> struct Aligned {
    using value_type = T;
    static constexpr std::align_val_t LINE{64};

    Aligned() = default;
    template <class Other> Aligned(const Aligned<Other> &) {}
    T *allocate(std::size_t size) { return static_cast<T *>(::operator new(size * sizeof(T), LINE)); }
    void deallocate(T *memory, std::size_t) { ::operator delete(memory, LINE); }
    template <class Other> bool operator==(const Aligned<Other> &) const { return true; }
};

// Room of a kernel's own, zeroed, seen as a view.
template <class T, int N> struct Room : View<T, N> {
    std::vector<T, Aligned<T>> cells;
    template <class... Extents> explicit Room(Extents... extents) {
        static_assert(sizeof...(Extents) == N);
        i64 given[] = {static_cast<i64>(extents)...};
        for (int axis = 0; axis < N; axis++) this->extent[axis] = given[axis];
        cells.resize(static_cast<std::size_t>(this->size()));
        this->data = cells.data();
    }
    Room(const Room &) = delete;
    Room &operator=(const Room &) = delete;
};

// ------------------------------------------------------------------ checks before the loops

[[noreturn]] inline void refuse(const char *kernel, const char *what) {
    throw std::out_of_range(std::string(kernel) + ": " + what);
}

inline void require(bool holds, const char *kernel, const char *what) {
    if (!holds) [[unlikely]]
        refuse(kernel, what);
}

template <class T> INLINE T largest(const T *values, i64 size) {
    T most = 0;
    for (i64 i = 0; i < size; i++) most = values[i] > most ? values[i] : most;
    return most;
}

template <class T> INLINE bool all_below(const T *values, i64 size, i64 limit) {
    return size == 0 || static_cast<i64>(largest(values, size)) < limit;
}

// Whether every entry lies in low … high − 1.
inline bool all_within(const i64 *values, i64 size, i64 low, i64 high) {
    bool good = true;
    for (i64 i = 0; i < size; i++) good &= values[i] >= low && values[i] < high;
    return good;
}

// Offsets that do not fall and stay within a table of `limit` cells.
inline bool all_offsets(const i64 *values, i64 size, i64 limit) {
    bool good = size == 0 || values[0] >= 0;
    for (i64 i = 0; i < size; i++)
        good &= values[i] <= limit && (i == 0 || values[i] >= values[i - 1]);
    return good;
}

template <class T, int N> bool within(View<const T, N> values, i64 low, i64 high) {
    return all_within(values.data, values.size(), low, high);
}

// ------------------------------------------------------------------ bindings

// Two or more kernels that differ by type alone are bound under one name, one call of this each.
template <class R, class... Args, class... Names>
void bind(nb::module_ &room, const char *name, const char *text, R (*kernel)(Args...),
          const Names *...names) {
    static_assert(sizeof...(Args) == sizeof...(Names), "one name for every argument");
    room.def(name, kernel, nb::arg(names)..., nb::call_guard<nb::gil_scoped_release>(), text);
}

// Bind kernels for the types that codes have: of one, two and four bytes.
template <class Bind> void for_codes(Bind bind_kernels) {
    bind_kernels(u8{});
    bind_kernels(u16{});
    bind_kernels(u32{});
}

}  // namespace unnaive

namespace nanobind::detail {

template <class T> constexpr char format_of() {
    using Plain = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Plain, bool>) return '?';
    if constexpr (std::is_same_v<Plain, double>) return 'd';
    if constexpr (std::is_same_v<Plain, float>) return 'f';
    if constexpr (std::is_integral_v<Plain> && std::is_signed_v<Plain>) return 'i';
    return 'u';
}

// What kind of number a character of the struct module stands for: native order alone.
inline char kind_of(const char *format) {
    if (*format == '@' || *format == '=') format++;
    if (format[0] == 0 || format[1] != 0) return 0;
    switch (*format) {
        case '?': return '?';
        case 'd': return 'd';
        case 'f': return 'f';
        case 'b': case 'h': case 'i': case 'l': case 'q': return 'i';
        case 'B': case 'H': case 'I': case 'L': case 'Q': return 'u';
        default: return 0;
    }
}

template <class T, int N> struct type_caster<unnaive::View<T, N>> {
    using Element = std::remove_const_t<T>;
    using Viewed = unnaive::View<T, N>;
    static constexpr bool is_bool = std::is_same_v<Element, bool>;
    static constexpr bool is_float = std::is_floating_point_v<Element>;
    static constexpr bool is_signed = !is_float && std::is_signed_v<Element>;
    static constexpr auto described =
        const_name("typing.Annotated[numpy.typing.NDArray[numpy.") +
        const_name<is_float>("float", "") +
        const_name<is_signed>("int", "") + const_name<!is_float && !is_signed && !is_bool>("uint", "") +
        const_name<is_bool>(const_name("bool_"), const_name<sizeof(Element) * 8>()) +
        const_name("], ") + const_name<N>() + const_name("]");
    NB_TYPE_CASTER(Viewed, described)

    Py_buffer buffer{};

    type_caster() = default;
    type_caster(const type_caster &) = delete;
    type_caster &operator=(const type_caster &) = delete;
    ~type_caster() { release(); }

    void release() {
        if (buffer.obj) PyBuffer_Release(&buffer);
    }

    bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
        release();
        int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS;
        if constexpr (!std::is_const_v<T>) flags |= PyBUF_WRITABLE;
        if (PyObject_GetBuffer(source.ptr(), &buffer, flags) != 0) {
            PyErr_Clear();
            buffer.obj = nullptr;
            return false;
        }
        if (buffer.ndim != N || buffer.itemsize != sizeof(T) || !buffer.format ||
            kind_of(buffer.format) != format_of<T>() ||
            reinterpret_cast<std::uintptr_t>(buffer.buf) % alignof(T) != 0)
            return false;
        value.data = static_cast<T *>(buffer.buf);
        for (int axis = 0; axis < N; axis++) value.extent[axis] = buffer.shape[axis];
        return true;
    }
};

}  // namespace nanobind::detail
