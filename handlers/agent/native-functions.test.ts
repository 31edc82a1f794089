import { expect, it } from 'vitest'
import { type NativeOptions, nativeFunctions, runNative } from './native-functions.ts'

const options: NativeOptions = { named: [], canPause: false, isOff: () => false, fillers: {} }

const names = (more: Partial<NativeOptions>) =>
  nativeFunctions({ ...options, ...more }).map(({ name }) => name)

const run = async (name: string, args: Readonly<Record<string, unknown>> = {}) => {
  const did: unknown[] = []
  const tools = {
    timeZone: 'US/Central',
    now: () => Date.UTC(2026, 0, 5, 18),
    hangup: () => did.push('hangup'),
    wait: async (ms: number) => void did.push(ms),
    waitForUser: () => did.push('wait'),
    setEndOfSpeech: (ms: number) => did.push(ms),
    pause: (seconds: number) => did.push(seconds),
  }
  const { text, respond = true } = (await runNative(name, args, tools, new AbortController().signal)) ?? {
    text: '',
  }
  return [text, respond, ...did]
}

it('always offers hangup, unless the document switches it off', () => {
  expect(names({})).toEqual(['hangup'])
  expect(names({ isOff: (name) => name === 'hangup' })).toEqual([])
})

it('offers others by name, and pausing by its parameter', () => {
  expect(names({ named: ['check_time', 'wait_seconds', 'dance'] })).toEqual([
    'hangup',
    'check_time',
    'wait_seconds',
  ])
  expect(names({ canPause: true })).toEqual(['hangup', 'pause_conversation'])
})

it('passes on fillers by name', () => {
  const fillers = { hangup: { default: ['Bye.'] } }
  expect(nativeFunctions({ ...options, fillers })[0]?.fillers).toEqual({ default: ['Bye.'] })
})

it('tells the time of the document, or of a zone', async () => {
  expect((await run('check_time'))[0]).toMatch(/^Monday, January 5, 2026 at 12:00:00\sPM CST$/)
  expect((await run('check_time', { time_zone: 'Europe/Berlin' }))[0]).toContain('7:00:00')
  expect((await run('check_time', { time_zone: 'Mars' }))[0]).toBe('There is no time zone Mars.')
})

it.each([
  ['hangup', {}, ['The call ends.', false, 'hangup']],
  ['wait_seconds', { seconds: '3' }, ['3 seconds have passed.', true, 3000]],
  ['wait_seconds', { seconds: 9999 }, ['60 seconds have passed.', true, 60_000]],
  ['wait_for_user', {}, ['Waiting for the caller.', false, 'wait']],
  ['pause_conversation', {}, ['The conversation is on hold.', false, 300]],
  ['adjust_response_latency', { milliseconds: 1 }, [expect.stringContaining('250'), true, 250]],
] as const)('%s with %j', async (name, args, wanted) => {
  expect(await run(name, args)).toEqual(wanted)
})

it('does not know other names', () => {
  expect(runNative('constructor', {}, {} as never, new AbortController().signal)).toBeUndefined()
})
