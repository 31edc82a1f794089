// @vitest-environment happy-dom
import { type Call, ClientError } from '@trunkline/client'
import { act } from 'react'
import { expect, it } from 'vitest'
import { FakeCall } from './testing/fakes.ts'
import { rendered } from './testing/rendered.ts'
import { useCall } from './use-call.ts'
import { useStream } from './use-stream.ts'

it('the state of a call is up to date until it ends', async () => {
  const made = new FakeCall()
  const hook = await rendered((call: Call) => useCall(call), made.call)
  expect(hook.value).toMatchObject({
    state: 'new',
    active: false,
    muted: { audio: false },
    reason: undefined,
  })
  await act(async () => made.becomes('active'))
  await act(async () => made.mutes(true))
  const bob = { member_id: 'm1', call_id: 'c1', node_id: 'n1', name: 'Bob' }
  await act(async () => made.joins(bob))
  expect(hook.value).toMatchObject({ state: 'active', active: true, muted: { audio: true, video: false } })
  expect(hook.value.members).toEqual([bob])
  await act(async () => {
    made.reason = new ClientError('normal', 'The call was hung up here.')
    made.becomes('ended')
  })
  expect(hook.value).toMatchObject({ state: 'ended', active: false, reason: { code: 'normal' } })
})

it('an event that changes nothing does not render the component again', async () => {
  const made = new FakeCall()
  const hook = await rendered((call: Call) => useCall(call), made.call)
  const { count } = hook
  await act(async () => made.events.emit('mute', made.muted))
  expect(hook.count).toBe(count)
})

it('the stream of a microphone that is added later is present', async () => {
  const made = new FakeCall()
  const hook = await rendered((call: Call) => useCall(call), made.call)
  const localStream = {} as MediaStream
  await act(async () => {
    Object.assign(made, { localStream })
    made.events.emit('microphone.updated', { previous: undefined, current: { deviceId: 'm', label: 'M' } })
  })
  expect(hook.value.localStream).toBe(localStream)
})

it('another call replaces the former one, whose listeners are removed', async () => {
  const first = new FakeCall()
  const second = new FakeCall()
  second.state = 'ringing'
  const hook = await rendered((call: Call | undefined) => useCall(call), undefined as Call | undefined)
  expect(hook.value).toBeUndefined()
  await hook.render(first.call)
  expect(hook.value).toMatchObject({ state: 'new' })
  await hook.render(second.call)
  expect(hook.value).toMatchObject({ state: 'ringing' })
  expect(first.events.size).toBe(0)
  await hook.unmount()
  expect(second.events.size).toBe(0)
})

it('a video element receives its stream once, and null without a stream', async () => {
  const stream = {} as MediaStream
  const set: unknown[] = []
  const element = {
    set srcObject(value: unknown) {
      set.push(value)
    },
  } as HTMLMediaElement
  const hook = await rendered(useStream, stream)
  const show = hook.value
  show(element)
  show(null)
  await hook.render(stream)
  expect(hook.value).toBe(show)
  expect(set).toEqual([stream])
  const without = await rendered(useStream, undefined)
  without.value(element)
  expect(set).toEqual([stream, null])
})
