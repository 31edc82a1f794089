import { expect, it } from 'vitest'
import type { Line } from '../lines.ts'
import { FakeCall } from '../testing/fakes.ts'
import { lineText } from './call-state.tsx'

it.each([
  ['talking', 'active', {}, false, undefined],
  ['without a media path', 'active', { hasMedia: false }, false, 'Connecting…'],
  ['whose first media path failed', 'active', { hasMedia: false }, true, 'Connecting…'],
  ['whose media path broke', 'active', {}, true, 'Connection lost. Reconnecting the call…'],
  ['held by the others', 'active', { isHeldByOthers: true }, false, 'On hold by the other side'],
  ['held by both', 'held', { isHeldByOthers: true }, false, 'On hold'],
  ['that rings', 'ringing', { hasMedia: false }, false, 'Ringing…'],
] as const)('the text of a call %s', (_name, state, facts, broken, text) => {
  const call = Object.assign(new FakeCall(), facts, { state })
  expect(lineText({ call, broken } as unknown as Line)).toBe(text)
})
