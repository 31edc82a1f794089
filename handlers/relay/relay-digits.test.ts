import { expect, it } from 'vitest'
import { RelayDigits } from './relay-digits.ts'

const settle = () => new Promise(setImmediate)

const open = () => {
  const sent: {
    readonly digits: string
    readonly signal: AbortSignal | undefined
    end(): void
    fail(error: Error): void
  }[] = []
  const errors: unknown[] = []
  const sendDigits = (digits: string, { signal }: { readonly signal?: AbortSignal } = {}) =>
    new Promise<void>((end, fail) => {
      sent.push({ digits, signal, end, fail })
    })
  const digits = new RelayDigits({ sendDigits }, (error) => errors.push(error))
  return { digits, sent, errors }
}

it('digits are sent one message after the other, also after a failure', async () => {
  const t = open()
  t.digits.send('12')
  t.digits.send('34')
  t.digits.send('56')
  await settle()
  expect(t.sent.map(({ digits }) => digits)).toEqual(['12'])
  t.sent[0]?.end()
  await settle()
  expect(t.sent.map(({ digits }) => digits)).toEqual(['12', '34'])
  const fault = new Error('no audio')
  t.sent[1]?.fail(fault)
  await settle()
  expect([t.sent.map(({ digits }) => digits), t.errors]).toEqual([['12', '34', '56'], [fault]])
  let isSent = false
  void t.digits.sent().then(() => (isSent = true))
  await settle()
  expect(isSent).toBe(false)
  t.sent[2]?.end()
  await settle()
  expect(isSent).toBe(true)
})

it('the end cancels the digits in progress, and drops those that wait', async () => {
  const t = open()
  t.digits.send('12')
  t.digits.send('34')
  await settle()
  expect(t.sent[0]?.signal?.aborted).toBe(false)
  t.digits.close()
  expect(t.sent[0]?.signal?.aborted).toBe(true)
  t.sent[0]?.end()
  await t.digits.sent()
  expect(t.sent).toHaveLength(1)
})

it('at most 256 digits wait', async () => {
  const t = open()
  for (let count = 0; count < 4; count++) t.digits.send('1'.repeat(64))
  expect(() => t.digits.send('2')).toThrow('too many digits wait')
  await settle()
  t.sent[0]?.end()
  await settle()
  t.digits.send('2'.repeat(64))
  expect(() => t.digits.send('3')).toThrow('too many digits wait')
})
