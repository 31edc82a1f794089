/**
 * Wraps a listener: an error that it throws goes to `onError` and does not reach the caller. By default it
 * becomes a process warning. The same function as in `gateway/core`, which this package cannot import.
 */
export const guard =
  <A extends readonly unknown[]>(listener: (...args: A) => unknown, onError = warn) =>
  (...args: A): void => {
    try {
      listener(...args)
    } catch (error) {
      onError(error)
    }
  }

const warn = (error: unknown): void => {
  process.emitWarning(error instanceof Error ? error : String(error))
}
