import { describe, expect, it } from 'vitest'
import { type ConversationChanges, ConversationRig } from './testing/conversation-rig.ts'
import { FakeEngine } from './testing/fake-engine.ts'

const its = () => new FakeEngine('its', { turns: 'its', cut: 'truncate' })

const opened = async (changes: ConversationChanges = {}, engine = new FakeEngine()) => {
  const rig = new ConversationRig([engine], changes)
  await rig.ready()
  return rig
}

describe('Time of a response', () => {
  it('is that from the end of the voice to the first sound', async () => {
    const rig = await opened()
    await rig.callerSays('A question.')
    rig.link.answers('a', 'An answer.')
    await rig.passes(100)
    rig.tap.plays()
    expect(rig.responses).toEqual([2100])
  })

  it('is measured with engines that decide about turns, also if they are quicker than the detector', async () => {
    const rig = await opened({}, its())
    rig.voice(true)
    rig.clock.advance(1000)
    rig.link.listener.onTurn('began')
    rig.link.listener.onHeard({ text: 'A question.', isFinal: true })
    rig.link.listener.onTurn('ended')
    rig.link.listener.onAnswer('a')
    rig.clock.advance(50)
    rig.voice(false)
    rig.link.listener.onAudio('a', '1', new Int16Array(800))
    rig.clock.advance(300)
    rig.tap.plays()
    expect(rig.responses).toEqual([300])
    expect(rig.eventsOf('answer')).toEqual([])
    rig.link.listener.onAnswerEnd('a', 'completed')
    rig.tap.playsAll()
    const [answer] = rig.eventsOf('answer')
    expect(Object.keys(answer?.stamps ?? {}).sort()).toEqual([
      'firstAudio',
      'firstUtterance',
      'lastWordEnd',
      'requestSent',
      'speechStart',
      'turnDecided',
    ])
  })

  it('is not counted for prompts, which are no reply to a sound before them', async () => {
    const rig = await opened({ turns: { attentionMs: 5000 }, waitForUser: false })
    rig.link.answers('w', 'Welcome.')
    rig.tap.playsAll()
    rig.events.splice(0)
    rig.voice(true)
    rig.clock.advance(300)
    rig.voice(false)
    await rig.passes(6000)
    expect(rig.link.commandsOf('answer')).toHaveLength(2)
    rig.link.answers('a', 'Are you there?')
    rig.tap.playsAll()
    expect(rig.responses).toEqual([])
    expect(rig.eventsOf('answer')[0]?.stamps).not.toHaveProperty('lastWordEnd')
  })

  it('is not counted for a prompt after an answer that came before the end of the voice', async () => {
    const rig = await opened({ turns: { attentionMs: 5000 } }, its())
    rig.voice(true)
    rig.clock.advance(1000)
    rig.link.listener.onTurn('began')
    rig.link.listener.onHeard({ text: 'A question.', isFinal: true })
    rig.link.listener.onTurn('ended')
    rig.link.answers('a', 'An answer.')
    rig.voice(false)
    rig.tap.playsAll()
    await rig.passes(6000)
    rig.link.answers('b', 'Are you there?')
    rig.tap.playsAll()
    expect(rig.responses).toEqual([0])
  })
})

describe('Answer that is given up', () => {
  const stuck = async () => {
    const rig = await opened()
    await rig.callerSays('A question.')
    rig.link.begins('a', 'The first half')
    rig.tap.playsAll()
    await rig.passes(6000)
    return rig
  }

  it('is not reported as an interruption by the caller', async () => {
    const rig = await stuck()
    expect(rig.cuts).toEqual(['given-up'])
    expect(rig.eventsOf('barge')).toMatchObject([{ how: 'given-up', text: '' }])
    expect(rig.eventsOf('answer')).toMatchObject([{ isGivenUp: true, heard: 'The first half' }])
  })

  it('differs from an interrupted one', async () => {
    const rig = await opened()
    await rig.callerSays('A question.')
    rig.link.begins('a', 'one two three')
    rig.tap.plays()
    rig.voice(true, true)
    rig.link.listener.onHeard({ text: 'Stop it now', isFinal: true })
    await rig.settle()
    expect(rig.cuts).toEqual(['normal'])
    expect(rig.eventsOf('answer')[0]).not.toHaveProperty('isGivenUp')
  })
})

describe('Silence after a filler', () => {
  it('comes at once if the caller cuts it', async () => {
    const languages = [{ name: 'English', code: 'en', turnFillers: ['Go on.'] }]
    const rig = await opened({ languages, turns: { isSemantic: true } })
    rig.voice(true)
    rig.clock.advance(500)
    rig.link.listener.onHeard({ text: 'My number is one two three', isFinal: false })
    rig.voice(false)
    await rig.passes(750)
    rig.tap.plays()
    let isQuiet = false
    void rig.conversation.quiet().then(() => (isQuiet = true))
    await rig.settle()
    expect(isQuiet).toBe(false)
    rig.voice(true, true)
    await rig.settle()
    expect(isQuiet).toBe(true)
  })
})

describe('Echo that only the recogniser hears', () => {
  const says = 'Your table for four people is booked for eight this evening.'

  const speaking = async () => {
    const rig = await opened()
    await rig.callerSays('A table, please.')
    rig.link.answers('a', says, 4000)
    rig.tap.plays()
    await rig.passes(3000)
    rig.tap.takeCommands()
    return rig
  }

  it('does not interrupt, and is no turn', async () => {
    const rig = await speaking()
    rig.link.listener.onHeard({ text: 'your table for four', isFinal: false })
    rig.link.listener.onHeard({ text: 'your table for for people is booked', isFinal: true })
    rig.tap.playsAll()
    await rig.passes(500)
    rig.link.listener.onHeard({ text: 'for eight this evening', isFinal: true })
    await rig.passes(3000)
    expect(rig.tap.takeCommands()).not.toContain('cut')
    expect(rig.link.commandsOf('commit')).toHaveLength(1)
  })

  it('leaves words of the caller, which interrupt without detected voice', async () => {
    const rig = await speaking()
    rig.link.listener.onHeard({ text: 'no wait not eight', isFinal: true })
    await rig.passes(3000)
    expect(rig.tap.takeCommands()).toContain('cut')
    expect(rig.link.commandsOf('commit').at(-1)).toEqual(['commit', 'no wait not eight'])
  })
})

describe('Hold during which the caller speaks', () => {
  it('leaves the answer after it at its full level', async () => {
    const rig = await opened()
    rig.conversation.hold()
    rig.voice(true)
    await rig.passes(300)
    rig.conversation.unhold()
    rig.tap.takeCommands()
    rig.conversation.message({ role: 'system', content: 'Go on.' }, true)
    await rig.settle()
    rig.link.answers('a', 'Here I am again.')
    rig.tap.plays()
    await rig.settle()
    expect(rig.tap.takeCommands()).not.toContain('pause')
  })
})

describe('Language of the caller', () => {
  const languages = [
    { name: 'English', code: 'en-US' },
    { name: 'Spanish', code: 'es' },
  ]
  const says = async (rig: ConversationRig, text: string, language: string) => {
    rig.voice(true)
    rig.clock.advance(500)
    rig.link.listener.onHeard({ text, isFinal: true, language })
    rig.voice(false)
    await rig.passes(2000)
  }

  it('is that of the answer, if the document has it', async () => {
    const rig = await opened({ languages })
    await says(rig, 'Quiero una mesa, por favor.', 'es-MX')
    expect(rig.link.commandsOf('change', 'commit')).toEqual([
      ['change', { language: languages[1] }],
      ['commit', 'Quiero una mesa, por favor.'],
    ])
    expect(rig.eventsOf('language')).toMatchObject([{ code: 'es' }])
    await says(rig, 'And now in English.', 'en')
    expect(rig.eventsOf('language').map(({ code }) => code)).toEqual(['es', 'en-US'])
  })

  it.each([
    ['another language', 'Bonjour, je voudrais une table.', 'fr'],
    ['the same language', 'A table for two.', 'en-GB'],
    ['a single word', 'Sí.', 'es'],
  ])('changes nothing if it is %s', async (_, text, language) => {
    const rig = await opened({ languages })
    await says(rig, text, language)
    expect(rig.link.commandsOf('change')).toEqual([])
  })

  it('is reported of a recogniser that follows the caller, which stays as it is', async () => {
    const multi = { name: 'English', code: 'multi' }
    const rig = await opened({ languages: [multi, ...languages] })
    await says(rig, 'Quiero una mesa, por favor.', 'es')
    expect(rig.link.commandsOf('change')).toEqual([])
    expect(rig.eventsOf('language')).toMatchObject([{ code: 'es' }])
    const { languages: next } = rig.conversation.request()
    expect(next.map(({ code }) => code)).toEqual(['multi', 'es', 'en-US'])
  })

  it('changes nothing in a document with one language', async () => {
    const rig = await opened({ languages: [languages[1]!] })
    await says(rig, 'A table for two.', 'en-GB')
    expect(rig.link.commandsOf('change')).toEqual([])
  })
})
