/** Longest wait for an answer or an event, in ms. */
const patienceMs = 20_000

/** Resolves as the promise does, or rejects after 20 s. */
export const within = async <T>(what: string, promise: Promise<T>): Promise<T> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`not in time: ${what}`)), patienceMs)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
