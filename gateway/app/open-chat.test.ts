import pino from 'pino'
import { afterEach, expect, it, vi } from 'vitest'
import type { ChatParticipant } from '../chat/chat-participant.ts'
import { Metrics } from '../core/metrics.ts'
import type { Directory } from '../directory/directory.ts'
import { ConfigFollowers } from '../directory/provision/config-followers.ts'
import { describeEngines, describePostgres, type TestEngine } from '../directory/testing/engines.ts'
import { CloseStack } from './close-stack.ts'
import { openChat } from './open-chat.ts'

const p = 'project-1'
const hello = { text: 'Hello', metadata: {}, details: {} }

const opened: CloseStack[] = []
afterEach(async () => {
  for (const closing of opened.splice(0)) await closing.close()
})

interface SentMessage {
  readonly to: string
  readonly text: string
}

/**
 * Opens the chat of one gateway. `sent`: messages that its browsers were sent. Browsers of `unwilling` fail.
 */
const gateway = async (engine: TestEngine, unwilling?: string) => {
  const directory = await engine.open()
  const sent: SentMessage[] = []
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => lines.push(line) })
  const metrics = new Metrics()
  const emit = (to: string, _event: string, params: object) => {
    if (to === unwilling) throw new Error('no page')
    sent.push({ to, text: (params as SentMessage).text })
  }
  const closing = new CloseStack(log)
  const limits = { messagesKeptMs: 1_000 }
  const followers = new ConfigFollowers()
  const base = { config: { limits }, clock: engine.clock, log, closing, followers }
  const chat = openChat(base, { directory }, { emit }, metrics)
  opened.push(closing)
  return { directory, chat, sent, lines, metrics, closing }
}

const participant = (directory: Directory, name: string): ChatParticipant => {
  const { id, addressId } = directory.subscriberByEmail(p, `${name}@example.test`)!
  return { id, projectId: p, addressId, mayReach: () => true }
}

describeEngines('conversations of a gateway', (engine) => {
  it('are there after a restart', async () => {
    const { directory, chat } = await gateway(engine)
    const alice = participant(directory, 'alice')
    const bob = participant(directory, 'bob')
    const { message } = await chat.send(alice, bob.addressId!, 'conversation_id', hello)
    await directory.close()
    const later = await gateway(engine)
    const found = await later.chat.messages(bob, { size: 5 })
    expect(found.map((each) => each.message)).toEqual([message])
  })

  it('lose what is older than the configuration says', async () => {
    const { directory, chat } = await gateway(engine)
    const alice = participant(directory, 'alice')
    const bob = participant(directory, 'bob')
    await chat.send(alice, bob.addressId!, 'conversation_id', hello)
    await vi.waitFor(async () => {
      engine.clock.advance(3_600_000)
      expect(await chat.messages(bob, { size: 5 })).toEqual([])
    })
  })

  it('are counted for a minute', async () => {
    const { directory, chat, metrics } = await gateway(engine)
    const alice = participant(directory, 'alice')
    const bob = participant(directory, 'bob')
    await chat.send(alice, bob.addressId!, 'conversation_id', hello)
    expect(await metrics.text()).toMatch(/^trunkline_chat_counted 2$/m)
  })

  it('keep a message that cannot be delivered, and say so in the log, without its text', async () => {
    const name = { bob: '' }
    const probe = await gateway(engine)
    name.bob = participant(probe.directory, 'bob').id
    await probe.directory.close()
    const { directory, chat, lines } = await gateway(engine, name.bob)
    const alice = participant(directory, 'alice')
    const bob = participant(directory, 'bob')
    const secret = { ...hello, text: 'a secret' }
    const { message } = await chat.send(alice, bob.addressId!, 'conversation_id', secret)
    expect((await chat.messages(bob, { size: 5 })).map((each) => each.message)).toEqual([message])
    expect(lines.join('')).toContain(message.id)
    expect(lines.join('')).not.toContain('secret')
  })
})

describePostgres('conversations of gateways on one database', (engine) => {
  it('are delivered to the pages of each, once', async () => {
    const one = await gateway(engine)
    const other = await gateway(engine)
    const alice = participant(one.directory, 'alice')
    const bob = participant(one.directory, 'bob')
    await one.chat.send(alice, bob.addressId!, 'conversation_id', hello)
    const both = [alice, bob].map(({ id }) => ({ to: id, text: 'Hello' }))
    await vi.waitFor(() => expect(other.sent).toHaveLength(2))
    await other.chat.send(bob, alice.addressId!, 'conversation_id', { ...hello, text: 'Good day' })
    await vi.waitFor(() => expect(one.sent).toHaveLength(4))
    expect(one.sent.slice(0, 2)).toEqual(expect.arrayContaining(both))
    expect(other.sent).toHaveLength(4)
    expect(other.sent.slice(0, 2)).toEqual(expect.arrayContaining(both))
  })
})
