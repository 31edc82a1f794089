import { vi } from 'vitest'

/** Default time-out of `vi.waitFor`, in ms. Vitest's own is a second, which a busy machine may exceed. */
const patienceMs = 20_000

const { waitFor } = vi

/** Files share a process: the change is made once. */
if (waitFor.name !== 'waitPatiently')
  vi.waitFor = function waitPatiently(callback, options = {}) {
    return waitFor(callback, typeof options === 'number' ? options : { timeout: patienceMs, ...options })
  }
