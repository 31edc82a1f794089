const firstMs = 500
const maxMs = 30_000

/** Returns the wait before the next attempt after failures in a row, in ms: 0, 500, doubled up to 30,000. */
export const backOffMs = (failures: number): number =>
  failures < 1 ? 0 : Math.min(maxMs, firstMs * 2 ** (failures - 1))
