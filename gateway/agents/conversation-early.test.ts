import { describe, expect, it } from 'vitest'
import { type ConversationChanges, ConversationRig } from './testing/conversation-rig.ts'
import { FakeEngine } from './testing/fake-engine.ts'

const greeting = { text: 'Welcome.', isInterruptible: true }

/** Conversation of a call that is not answered yet. */
const ringing = (changes: ConversationChanges = {}) => {
  const rig = new ConversationRig([new FakeEngine()], changes, {}, false)
  let isPrepared = false
  void rig.conversation.prepared.then(() => (isPrepared = true))
  const isReady = async (): Promise<boolean> => {
    await rig.settle()
    return isPrepared
  }
  return { rig, isReady }
}

describe('Conversation before the answer of its call', () => {
  it('is prepared when the first sound of the greeting is there, which the answer sets free', async () => {
    const { rig, isReady } = ringing({ greeting })
    await rig.ready()
    expect(rig.link.commands).toEqual([['say', 'Welcome.']])
    expect(await isReady()).toBe(false)
    rig.link.answers('a', 'Welcome.')
    expect(await isReady()).toBe(true)
    expect(rig.tap.items.size).toBe(0)
    rig.conversation.moveTo(rig.port)
    expect(rig.tap.items.size).toBe(1)
    rig.tap.playsAll()
    expect(rig.eventsOf('answer')).toMatchObject([{ heard: 'Welcome.', isExact: true }])
  })

  it('lets a model that speaks first begin', async () => {
    const { rig, isReady } = ringing({ waitForUser: false })
    await rig.ready()
    expect(rig.link.commands).toEqual([['answer', undefined]])
    rig.link.begins('a', 'Hello.')
    expect(await isReady()).toBe(true)
  })

  it.each<[string, ConversationChanges]>([
    ['the caller speaks first', {}],
    ['it begins on hold', { greeting, isPaused: true }],
    ['it has to wait anyway', { greeting, initialDelayMs: 3000 }],
  ])('is prepared with its engine if %s', async (_, changes) => {
    const { rig, isReady } = ringing(changes)
    expect(await isReady()).toBe(false)
    await rig.ready()
    expect(await isReady()).toBe(true)
  })

  it('counts its initial delay from the answer', async () => {
    const { rig } = ringing({ greeting, initialDelayMs: 500 })
    await rig.ready()
    await rig.passes(1000)
    rig.conversation.moveTo(rig.port)
    await rig.passes(499)
    expect(rig.link.commands).toEqual([])
    await rig.passes(1)
    expect(rig.link.commands).toEqual([['say', 'Welcome.']])
  })

  it('lets the call wait for 1.5 s at most', async () => {
    const { rig, isReady } = ringing({ greeting })
    await rig.passes(1499)
    expect(await isReady()).toBe(false)
    await rig.passes(1)
    expect(await isReady()).toBe(true)
    rig.conversation.moveTo(rig.port)
    await rig.ready()
    rig.link.answers('a', 'Welcome.')
    expect(rig.tap.items.size).toBe(1)
  })

  it('runs functions only after the answer', async () => {
    const functions = [{ name: 'look_up', description: 'Looks up.', parameters: {} }]
    const { rig } = ringing({ functions, waitForUser: false })
    await rig.ready()
    rig.link.listener.onAnswer('f')
    rig.link.listener.onCall('f', { id: 'c', name: 'look_up', args: '{}' })
    await rig.settle()
    expect(rig.functions).toEqual([])
    rig.conversation.moveTo(rig.port)
    await rig.settle()
    expect(rig.functions).toHaveLength(1)
  })

  it('ends with its call, and leaves nothing', async () => {
    const { rig, isReady } = ringing({ greeting })
    await rig.ready()
    rig.link.answers('a', 'Welcome.')
    rig.conversation.hangUp()
    expect(await isReady()).toBe(true)
    await expect(rig.conversation.ended).resolves.toEqual({ kind: 'hangup' })
    rig.conversation.moveTo(rig.port)
    expect([rig.tap.items.size, rig.clock.running, rig.link.isClosed]).toEqual([0, 0, true])
    expect(rig.eventsOf('answer')).toMatchObject([{ heard: '', heardMs: 0 }])
  })
})
