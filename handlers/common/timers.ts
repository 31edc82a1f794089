import type { CallControl } from '../verbs.ts'

/** Timers of a handler. */
export interface Timers {
  /** Calls `run` once, `ms` milliseconds from now, unless it is cancelled. */
  after(ms: number, run: () => void): { cancel(): void }
}

/** Returns the timers of a call. None of them fires after its end. */
export const callTimers = (call: Pick<CallControl, 'sleep'>): Timers => ({
  after: (ms, run) => {
    const over = new AbortController()
    const { signal } = over
    const due = () => {
      if (!signal.aborted) run()
    }
    call.sleep(ms, { signal }).then(due, () => {})
    return { cancel: () => over.abort() }
  },
})

/** Resolves after a time in milliseconds, or when the signal fires; never after the end of the timers. */
export const wait = (timers: Timers, ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const timer = timers.after(ms, () => {
      signal?.removeEventListener('abort', stop)
      resolve()
    })
    const stop = () => {
      timer.cancel()
      resolve()
    }
    signal?.addEventListener('abort', stop, { once: true })
  })

/** Returns the value of a promise, or undefined if it does not settle in time. */
export const within = async <T>(timers: Timers, ms: number, promise: Promise<T>): Promise<T | undefined> => {
  const over = new AbortController()
  try {
    return await Promise.race([promise, wait(timers, ms, over.signal).then(() => undefined)])
  } finally {
    over.abort()
  }
}
