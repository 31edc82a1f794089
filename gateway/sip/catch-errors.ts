/**
 * Wraps callbacks so that what they throw goes to `failed`: an error of ours never reaches drachtio-srf's
 * socket reader.
 */
export const catchErrors =
  (failed: (error: unknown) => void) =>
  <A extends unknown[]>(run: (...args: A) => void) =>
  (...args: A): void => {
    try {
      run(...args)
    } catch (error) {
      failed(error)
    }
  }
