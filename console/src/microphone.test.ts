import { expect, it } from 'vitest'
import { Microphone } from './microphone.ts'
import { fakeStore } from './testing/fakes.ts'

const load = async (
  permission: PermissionState | undefined,
  count: number,
  isSecure = true,
  store = fakeStore(),
) => {
  const status = permission && Object.assign(new EventTarget(), { state: permission })
  const source = { isSecure, count: async () => count, permission: async () => status as PermissionStatus }
  const microphone = new Microphone(source, store, () => {})
  await microphone.load(new AbortController().signal)
  return { microphone, status }
}

it.each([
  ['granted', 1, true, 'granted', false],
  ['prompt', 1, true, 'ask', false],
  [undefined, 1, true, 'ask', false],
  ['denied', 1, true, 'blocked', true],
  ['granted', 0, true, 'missing', true],
  ['granted', 1, false, 'insecure', true],
] as const)(
  'permission %s, %i microphones, secure %s: %s',
  async (permission, count, secure, state, broken) => {
    const { microphone } = await load(permission, count, secure)
    expect([microphone.state, microphone.isBroken]).toEqual([state, broken])
  },
)

it('the check is needed once, and again when calls would fail', async () => {
  const store = fakeStore()
  const { microphone, status } = await load('prompt', 1, true, store)
  expect(microphone.needsCheck).toBe(true)
  microphone.checked()
  expect(microphone.needsCheck).toBe(false)
  Object.assign(status ?? {}, { state: 'denied' }).dispatchEvent(new Event('change'))
  await new Promise(setImmediate)
  expect(microphone.needsCheck).toBe(true)
})
