/** Tables of ITU-T G.722. */

/**
 * Half of the 24 coefficients of the quadrature mirror filter (table 11/G.722, times 8192); the other half is
 * its reverse. {@link qmfEven} and {@link qmfOdd} contain the even and the odd coefficients.
 */
const qmf = [3, -11, -11, 53, 12, -156, 32, 362, -210, -805, 951, 3876]
const whole = [...qmf, ...qmf.toReversed()]

/** Coefficients 0, 2, 4 … of the filter. */
export const qmfEven = Int32Array.from({ length: 12 }, (_, i) => whole[2 * i]!)
/** Coefficients 1, 3, 5 … of the filter. */
export const qmfOdd = Int32Array.from({ length: 12 }, (_, i) => whole[2 * i + 1]!)

/** Decision levels of the lower band's 60-level quantiser (Q6), by magnitude; level 0 is unused. */
export const decisions = Int32Array.of(
  0,
  35,
  72,
  110,
  150,
  190,
  233,
  276,
  323,
  370,
  422,
  473,
  530,
  587,
  650,
  714,
  786,
  858,
  940,
  1023,
  1121,
  1219,
  1339,
  1458,
  1612,
  1765,
  1980,
  2195,
  2557,
  2919,
)

/** Codes of the lower band for negative differences (ILN), by the magnitude's interval (1 to 30). */
export const negativeCodes = Uint8Array.of(
  0,
  63,
  62,
  31,
  30,
  29,
  28,
  27,
  26,
  25,
  24,
  23,
  22,
  21,
  20,
  19,
  18,
  17,
  16,
  15,
  14,
  13,
  12,
  11,
  10,
  9,
  8,
  7,
  6,
  5,
  4,
)

/** Codes of the lower band for positive differences (ILP), by the magnitude's interval (1 to 30). */
export const positiveCodes = Uint8Array.of(
  0,
  61,
  60,
  59,
  58,
  57,
  56,
  55,
  54,
  53,
  52,
  51,
  50,
  49,
  48,
  47,
  46,
  45,
  44,
  43,
  42,
  41,
  40,
  39,
  38,
  37,
  36,
  35,
  34,
  33,
  32,
)

/** Output of the 4-bit inverse quantiser (QM4), for the adaptation on both sides. */
export const inverse4 = Int32Array.of(
  0,
  -20456,
  -12896,
  -8968,
  -6288,
  -4240,
  -2584,
  -1200,
  20456,
  12896,
  8968,
  6288,
  4240,
  2584,
  1200,
  0,
)

/** Output of the 6-bit inverse quantiser (QM6), for the output signal. */
export const inverse6 = Int32Array.of(
  -136,
  -136,
  -136,
  -136,
  -24808,
  -21904,
  -19008,
  -16704,
  -14984,
  -13512,
  -12280,
  -11192,
  -10232,
  -9360,
  -8576,
  -7856,
  -7192,
  -6576,
  -6000,
  -5456,
  -4944,
  -4464,
  -4008,
  -3576,
  -3168,
  -2776,
  -2400,
  -2032,
  -1688,
  -1360,
  -1040,
  -728,
  24808,
  21904,
  19008,
  16704,
  14984,
  13512,
  12280,
  11192,
  10232,
  9360,
  8576,
  7856,
  7192,
  6576,
  6000,
  5456,
  4944,
  4464,
  4008,
  3576,
  3168,
  2776,
  2400,
  2032,
  1688,
  1360,
  1040,
  728,
  432,
  136,
  -432,
  -136,
)

/** Output of the upper band's 2-bit inverse quantiser (QM2). */
export const inverse2 = Int32Array.of(-7408, -1616, 7408, 1616)

/** Steps of the lower band's logarithmic scale factor (WL), by the 4-bit code (RL42 and WL in one). */
export const scaleSteps4 = Int32Array.of(
  -60,
  3042,
  1198,
  538,
  334,
  172,
  58,
  -30,
  3042,
  1198,
  538,
  334,
  172,
  58,
  -30,
  -60,
)

/** Steps of the upper band's logarithmic scale factor (WH), by the 2-bit code. */
export const scaleSteps2 = Int32Array.of(798, -214, 798, -214)

/** Powers of 2 for the scale factor's fraction, in 32 steps (ILB). */
export const powers = Int32Array.from({ length: 32 }, (_, i) => Math.round(2048 * 2 ** (i / 32)))
