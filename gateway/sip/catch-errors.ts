/**
 * Wraps callbacks so that their errors go to `failed`: no error of the gateway reaches the socket reader of
 * drachtio-srf.
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
