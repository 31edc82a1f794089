import { expect, it } from 'vitest'
import { callAll } from './call-all.ts'

/** Phones whose calls end when the test says so. */
const phonesOf = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const phones = {
    ends: 0,
    endCalls: () => {
      phones.ends++
      return promise
    },
  }
  return { phones, resolve }
}

/** Caller that talks until the test is stopped. */
const talk = (stop: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (stop.aborted) resolve()
    else stop.addEventListener('abort', () => resolve())
  })

const outcomeOf = (test: Promise<void>) => {
  const outcome = { text: 'running' }
  void test.then(
    () => {
      outcome.text = 'done'
    },
    (error: Error) => {
      outcome.text = error.message
    },
  )
  return async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return outcome.text
  }
}

const never = new AbortController().signal

it('runs all callers at once', async () => {
  const { phones } = phonesOf()
  const called: string[] = []
  await callAll(['a', 'b'], { phones, signal: never }, async (seat, index) => {
    called.push(`${seat}${index}`)
  })
  expect(called).toEqual(['a0', 'b1'])
  expect(phones.ends).toBe(0)
})

it('ends the calls of all others after the error of one, and then rejects with it', async () => {
  const { phones, resolve } = phonesOf()
  const test = callAll([1, 2], { phones, signal: never }, async (seat, _index, stop) => {
    if (seat === 2) throw new Error('The stand-ins are gone.')
    await talk(stop)
    throw new Error('A later error.')
  })
  const outcome = outcomeOf(test)
  expect(await outcome()).toBe('running')
  expect(phones.ends).toBe(1)
  resolve()
  expect(await outcome()).toBe('The stand-ins are gone.')
})

it('ends all calls by the signal, also those of a caller that hangs', async () => {
  const { phones, resolve } = phonesOf()
  const stop = new AbortController()
  const hang = () => new Promise<void>(() => {})
  const outcome = outcomeOf(callAll([1], { phones, signal: stop.signal }, hang))
  stop.abort(new Error('Ctrl+C'))
  expect(await outcome()).toBe('running')
  expect(phones.ends).toBe(1)
  resolve()
  expect(await outcome()).toBe('Ctrl+C')
})

it('calls nothing if the signal came before', async () => {
  const { phones, resolve } = phonesOf()
  resolve()
  const test = callAll(
    [1],
    { phones, signal: AbortSignal.abort(new Error('Ctrl+C')) },
    (_seat, _index, stop) => talk(stop),
  )
  await expect(test).rejects.toThrow('Ctrl+C')
})
