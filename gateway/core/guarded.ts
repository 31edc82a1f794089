import type { Log } from './log.ts'

/** A listener whose failure is logged and harms nobody else. */
export const guarded =
  <A extends readonly unknown[]>(listener: (...args: A) => unknown, log: Pick<Log, 'error'>) =>
  (...args: A): void => {
    try {
      listener(...args)
    } catch (error) {
      log.error({ err: error }, 'a listener failed')
    }
  }
