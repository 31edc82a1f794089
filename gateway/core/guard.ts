import type { Log } from './log.ts'

/**
 * Wraps a listener or a callback, so that its errors do not disturb the engine that calls it: they go to
 * `onError`. The package `media` has the same function, as it cannot import the gateway.
 */
export const guard =
  <A extends readonly unknown[]>(listener: (...args: A) => unknown, onError: (error: unknown) => void) =>
  (...args: A): void => {
    try {
      listener(...args)
    } catch (error) {
      onError(error)
    }
  }

/** Wraps a listener like {@link guard}, and logs its errors. */
export const guardListener = <A extends readonly unknown[]>(
  listener: (...args: A) => unknown,
  log: Pick<Log, 'error'>,
): ((...args: A) => void) =>
  guard(listener, (error) => log.error({ event: 'gateway.listener-failed', err: error }, 'listener failed'))
