import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { EngineServer, type ServerMessage } from '../session/testing/engine-server.ts'
import { audio, called, created, done, setUpSpoken } from './testing/realtime-session.ts'

let server: EngineServer

beforeEach(async () => {
  server = await EngineServer.open()
})

afterEach(() => server.close())

const wrote = (response_id: string, item_id: string, delta: string): ServerMessage => ({
  type: 'response.output_text.delta',
  response_id,
  item_id,
  delta,
})

const itemsOf = (messages: readonly ServerMessage[]) =>
  messages.map(({ item }) => (item as { content: { text: string }[] }).content[0]!.text)

describe('a Realtime session whose answers a voice speaks', () => {
  it('asks the server for text, and for no voice', async () => {
    const { far, link } = await setUpSpoken(server, { voice: 'marin' })
    expect(far.messages[0]?.session).toMatchObject({ output_modalities: ['text'] })
    expect(JSON.stringify(far.messages[0])).not.toContain('"output"')
    expect([link.abilities.cut, link.abilities.isExact, link.outputRate]).toEqual(['note', true, 16_000])
  })

  it('asks a server with the older names for text', async () => {
    const beta = await setUpSpoken(server, { dialect: 'beta' })
    expect(beta.far.messages[0]?.session).toMatchObject({ modalities: ['text'] })
    expect(JSON.stringify(beta.far.messages[0])).not.toContain('output_audio_format')
  })

  it('speaks clause by clause while the server writes', async () => {
    const { far, events, voice } = await setUpSpoken(server)
    far.send(created('r'), wrote('r', 'i', 'I am the agent, '), wrote('r', 'i', 'at your service.'))
    await events.until('text')
    expect(voice.texts).toEqual(['I am the agent,'])
    far.send(done('r'))
    await vi.waitFor(() => expect(voice.texts).toHaveLength(2))
    for (const each of voice.spoken) {
      each.audio(100)
      each.end()
    }
    await events.until('answer-end', 'r', 'completed')
    expect(events.events.slice(1).filter(([name]) => name !== 'usage')).toEqual([
      ['answer', 'r'],
      ['first-token', 'r'],
      ['text', 'r', 'r.1', 'I am the agent,'],
      ['text', 'r', 'r.2', 'at your service.'],
      ['audio', 'r', 'r.1', 1600],
      ['item-end', 'r', 'r.1'],
      ['audio', 'r', 'r.2', 1600],
      ['item-end', 'r', 'r.2'],
      ['answer-end', 'r', 'completed'],
    ])
  })

  it('delivers one answer after the other, each with its calls', async () => {
    const { far, events, voice } = await setUpSpoken(server)
    far.send(created('r'), wrote('r', 'i', 'One moment.'), called('r', 'a'), done('r'))
    await events.until('call', 'r')
    far.send(created('s'), wrote('s', 'k', 'Done.'), called('s', 'b'), done('s'))
    await far.settled()
    expect(events.of('answer', 'call')).toHaveLength(2)
    voice.spoken[0]!.audio(20)
    voice.spoken[0]!.end()
    await events.until('call', 's')
    expect(events.of('answer', 'answer-end', 'call').map(([name, id]) => [name, id])).toEqual([
      ['answer', 'r'],
      ['call', 'r'],
      ['answer-end', 'r'],
      ['answer', 's'],
      ['call', 's'],
    ])
  })

  it('puts the text that was heard in the place of an interrupted answer, and of those behind it', async () => {
    const { far, events, link, voice } = await setUpSpoken(server)
    far.send(created('r'), wrote('r', 'i', 'Good day to you. How are you?'), done('r'))
    far.send(created('s'), wrote('s', 'k', 'Hello?'), called('s', 'b'), done('s'))
    await events.until('text', 'r', 'r.2')
    await far.settled()
    link.interrupt({ answer: 'r', item: 'r.1', ms: 500, text: 'Good day' }, false)
    expect(voice.spoken.every(({ isCancelled }) => isCancelled)).toBe(true)
    await far.next({ type: 'conversation.item.create' })
    await events.until('answer-end', 'r', 'cancelled')
    expect(far.all({ type: 'conversation.item.delete' }).map(({ item_id }) => item_id)).toEqual(['i', 'k'])
    expect(far.all({ type: 'conversation.item.truncate' })).toEqual([])
    await far.settled()
    expect(far.all({ type: 'conversation.item.create' }).map(({ item }) => item)).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Good day' }] },
      {
        type: 'function_call_output',
        call_id: 'b',
        output: 'The caller interrupted; the function did not run.',
      },
    ])
    expect(events.of('call')).toEqual([])
  })

  it('speaks a given text word for word, and corrects it after an interruption', async () => {
    const { far, events, link, voice } = await setUpSpoken(server)
    link.say('Welcome to the tea shop.')
    const { item } = await far.next({ type: 'conversation.item.create' })
    expect(item).toMatchObject({ id: 'said_1', role: 'assistant' })
    await events.until('answer')
    expect(voice.texts).toEqual(['Welcome to the tea shop.'])
    expect(far.all({ type: 'response.create' })).toEqual([])
    const [answer] = events.of('answer')
    const id = String(answer![1])
    expect(answer).toEqual(['answer', id, 'given'])
    link.interrupt({ answer: id, item: `${id}.1`, ms: 300, text: 'Welcome' }, false)
    await far.next({ type: 'conversation.item.delete', item_id: 'said_1' })
    await far.next({ type: 'conversation.item.create' })
    expect(itemsOf(far.all({ type: 'conversation.item.create' }))).toEqual([
      'Welcome to the tea shop.',
      'Welcome',
    ])
  })

  it('speaks in the language of a switch, and warns of an unknown voice', async () => {
    const languages = [{ name: 'English', code: 'en-US', voice: 'other.x' }]
    const { far, events, link, voice } = await setUpSpoken(server, {}, { languages })
    await events.until('warning', 'voice_unknown')
    link.change({ language: { name: 'German', code: 'de-DE', voice: 'acme.uta' } })
    far.send(created('r'), wrote('r', 'i', 'Guten Tag.'), done('r'))
    await vi.waitFor(() => expect(voice.texts).toEqual(['Guten Tag.']))
    expect(voice.spoken[0]!.options).toMatchObject({ language: 'de-DE', voice: 'uta' })
  })

  it('fails when no voice is left, and reports an answer that failed', async () => {
    const { far, events, voice } = await setUpSpoken(server)
    const failed = { status: 'failed', status_details: { error: { code: 'x' } } }
    far.send(created('r'), wrote('r', 'i', 'Well.'), done('r', failed))
    await vi.waitFor(() => expect(voice.texts).toEqual(['Well.']))
    voice.spoken[0]!.end()
    await events.until('answer-end', 'r', 'failed')
    far.send(created('t'), wrote('t', 'k', 'Hello.'), done('t'))
    await vi.waitFor(() => expect(voice.texts).toHaveLength(2))
    voice.spoken[1]!.fail()
    expect(await events.failure()).toMatchObject({ kind: 'server', part: 'oai' })
  })

  it('deletes answers of which nothing was heard from the conversation', async () => {
    const { far, events, link } = await setUpSpoken(server)
    far.send(created('r'), wrote('r', 'i', 'Good day to you.'), done('r'))
    far.send(created('s'), wrote('s', 'k', 'Hello?'), done('s'))
    await events.until('text', 'r')
    await far.settled()
    link.interrupt(undefined, false)
    await events.until('answer-end', 'r', 'cancelled')
    await far.settled()
    expect(far.all({ type: 'conversation.item.delete' }).map(({ item_id }) => item_id)).toEqual(['i', 'k'])
    expect(far.all({ type: 'conversation.item.create' })).toEqual([])
  })

  it('ends with an answer that fails with nothing to speak, so that another session gives it', async () => {
    const { far, events } = await setUpSpoken(server)
    const failed = { status: 'failed', status_details: { error: { code: 'server_error' } } }
    far.send(created('r'), called('r', 'a'), done('r', failed))
    expect(await events.failure()).toEqual({ kind: 'server', part: 'oai', message: 'server_error' })
    expect(events.of('call')).toEqual([])
    const { far: other, events: later } = await setUpSpoken(server, {}, {}, 1)
    other.send(created('s'), audio('s', 'i', 20), done('s', failed))
    expect(await later.failure()).toMatchObject({ kind: 'server', message: 'the answer failed' })
  })
})
