import { describe, expect, it } from 'vitest'
import type { AgentSayOptions, AgentSound } from '../verbs.ts'
import type { RelayMessage } from './relay-messages.ts'
import { interruptionRules, RelayVoice, type RelayVoiceDeps } from './relay-voice.ts'
import type { WrittenText } from './written-text.ts'

type Text = Extract<RelayMessage, { type: 'text' }>

const open = (changes: Partial<RelayVoiceDeps['options']> = {}) => {
  let time = 0
  const did: unknown[] = []
  /** Speech in progress, the oldest first. */
  const said: { what: WrittenText | AgentSound; options: AgentSayOptions | undefined; heard: () => void }[] =
    []
  const voice = new RelayVoice(
    {
      agent: {
        say: (what, options) => {
          const { promise, resolve } = Promise.withResolvers<void>()
          said.push({ what: what as WrittenText, options, heard: resolve })
          return promise
        },
        change: ({ turns }) => void did.push(turns),
        cut: () => {
          did.push('cut')
          said.at(-1)?.heard()
        },
      },
      options: { interruptible: 'any', isPreemptible: false, ...changes },
      languageOf: (code) => ({ name: code, code }),
      now: () => time,
    },
    'high',
  )
  const write = (token: string, more: Partial<Text> = {}) =>
    voice.write({ type: 'text', token, isLast: false, ...more })
  /** Texts so far; `…`: one that is being written. */
  const texts = () =>
    said.map(({ what }) => {
      if ('url' in what) return what.url
      let isEnded = false
      what.read((piece) => {
        isEnded ||= piece === undefined
      })()
      return isEnded ? what.text : `${what.text}…`
    })
  const settle = () => new Promise(setImmediate)
  return {
    voice,
    did,
    said,
    write,
    texts,
    settle,
    wait: (ms: number) => {
      time += ms
    },
  }
}

describe('speech of a text server', () => {
  it('begins with the first token that has words, and goes on with the others', () => {
    const t = open()
    t.write(' ')
    expect(t.said).toEqual([])
    t.write('Good ')
    expect(t.texts()).toEqual(['Good …'])
    t.write('day.')
    t.write('', { isLast: true })
    expect(t.texts()).toEqual(['Good day.'])
    expect(t.said[0]?.options).toEqual({ isInterruptible: true })
  })

  it('follows in order, each with its manner', async () => {
    const t = open()
    t.write('One.', { isLast: true, interruptible: 'none' })
    t.voice.play({ type: 'play', source: 'https://x.example/a.wav', loops: 2 })
    t.write('Two.', { isLast: true, interruptible: 'dtmf', language: 'fr' })
    expect(t.texts()).toEqual(['One.'])
    expect(t.did).toEqual([{ barge: 'none', bargeMinWords: 1, keys: 'ignored' }])
    t.said[0]?.heard()
    await t.settle()
    expect(t.said[1]?.what).toEqual({ url: 'https://x.example/a.wav', loops: 2 })
    expect(t.did.at(-1)).toEqual({ barge: 'any', bargeMinWords: 1, keys: 'interrupt' })
    t.said[1]?.heard()
    await t.settle()
    expect(t.said[2]?.options).toEqual({ isInterruptible: true, language: { name: 'fr', code: 'fr' } })
    expect(t.did.at(-1)).toEqual({ barge: 'none', bargeMinWords: 1, keys: 'interrupt' })
  })

  it('is divided where its language changes', () => {
    const t = open()
    t.write('Hello ', { language: 'en' })
    t.write('Bonjour', { language: 'fr', isLast: true })
    t.said[0]?.heard()
    return t.settle().then(() => expect(t.texts()).toEqual(['Hello ', 'Bonjour']))
  })

  it('is replaced by later speech only if it says so', async () => {
    const t = open()
    t.write('Please wait', { isPreemptible: true })
    t.write('And wait.', { isPreemptible: true })
    expect(t.did).toEqual([])
    t.voice.play({ type: 'play', source: 'https://x.example/a.wav', loops: 1, isPreemptible: true })
    expect(t.did).toEqual(['cut'])
    t.write('Here.', { isLast: true })
    await t.settle()
    expect(t.texts()).toEqual(['Please waitAnd wait.', 'Here.'])
    t.write('Next.', { isLast: true })
    expect(t.did).toEqual(['cut'])
  })

  it('drops the rest of a text that the caller interrupted, until the next turn or a second later', async () => {
    const t = open()
    t.write('One two ')
    t.write('three', { isLast: true })
    t.write('Queued.', { isLast: true })
    t.write('Protected.', { isLast: true, interruptible: 'none' })
    t.write('Open ')
    t.voice.interrupted()
    t.said[0]?.heard()
    await t.settle()
    expect(t.texts()).toEqual(['One two three', 'Protected.'])
    t.write('rest ')
    t.write('of it', { isLast: true })
    t.write('New.', { isLast: true })
    t.said[1]?.heard()
    await t.settle()
    expect(t.texts().at(-1)).toBe('New.')
    t.write('Again ')
    t.voice.interrupted()
    t.voice.prompted()
    t.write('Answer.', { isLast: true })
    t.said[2]?.heard()
    await t.settle()
    expect(t.texts().at(-1)).toBe('Answer.')
    t.write('More ')
    t.voice.interrupted()
    t.wait(1000)
    t.said[3]?.heard()
    t.write('Late.', { isLast: true })
    await t.settle()
    expect(t.texts().at(-1)).toBe('Late.')
  })

  it('keeps all that follows an interruption of a complete text', async () => {
    const t = open()
    t.write('Complete.', { isLast: true })
    t.voice.interrupted()
    t.write('Sorry.', { isLast: true })
    t.said[0]?.heard()
    await t.settle()
    expect(t.texts()).toEqual(['Complete.', 'Sorry.'])
  })

  it('greets by its own rules, which later speech does not cut', async () => {
    const t = open({ greeting: { text: 'Welcome.', interruptible: 'none' }, isPreemptible: true })
    t.voice.greet()
    expect([t.texts(), t.voice.interruptible]).toEqual([['Welcome.'], 'none'])
    t.write('First.', { isLast: true })
    expect(t.did).toEqual([])
    t.said[0]?.heard()
    await t.settle()
    expect([t.texts()[1], t.voice.interruptible]).toEqual(['First.', 'any'])
  })

  it('has texts of others between those of the server', async () => {
    const t = open()
    t.write('One ')
    t.voice.say('We close soon.')
    t.write('two.', { isLast: true })
    t.said[0]?.heard()
    await t.settle()
    expect(t.texts()).toEqual(['One two.', 'We close soon.'])
  })

  it('goes on with a text that was dropped while the server still writes it', async () => {
    const t = open()
    t.write('First.', { isLast: true })
    t.write('Dropped ', { isPreemptible: true })
    void t.voice.say('We close soon.')
    t.write('rest.', { isLast: true })
    for (const at of [0, 1, 2]) {
      t.said[at]?.heard()
      await t.settle()
    }
    expect(t.texts()).toEqual(['First.', 'We close soon.', 'rest.'])
    const cut = open()
    cut.write('Please wait ', { isPreemptible: true })
    void cut.voice.say('We close soon.')
    await cut.settle()
    cut.write('a little.', { isLast: true })
    cut.said[1]?.heard()
    await cut.settle()
    expect(cut.texts()).toEqual(['Please wait ', 'We close soon.', 'a little.'])
  })

  it('drops the rest for a shorter time after a key, which the server has received', async () => {
    const t = open()
    t.write('Press one ')
    t.voice.interrupted(true)
    t.said[0]?.heard()
    await t.settle()
    t.wait(299)
    t.write('or two.')
    t.wait(1)
    t.write('You pressed one.', { isLast: true })
    await t.settle()
    expect(t.texts()).toEqual(['Press one ', 'You pressed one.'])
  })

  it('drops the rest of a text that was over before its interruption was reported', async () => {
    const t = open()
    t.write('One ')
    t.said[0]?.heard()
    await t.settle()
    t.voice.interrupted()
    t.write('two', { isLast: true })
    t.write('New.', { isLast: true })
    expect(t.texts()).toEqual(['One ', 'New.'])
  })

  it('reports that the text of another was heard or dropped', async () => {
    const t = open({ isPreemptible: true })
    const over: string[] = []
    const say = (text: string) => void t.voice.say(text).then(() => over.push(text))
    t.write('Not replaced.', { isLast: true, isPreemptible: false })
    say('Dropped.')
    say('Heard.')
    await t.settle()
    expect(over).toEqual(['Dropped.'])
    t.said[0]?.heard()
    await t.settle()
    t.said[1]?.heard()
    await t.settle()
    expect(over).toEqual(['Dropped.', 'Heard.'])
    t.voice.stop()
    say('Too late.')
    await t.settle()
    expect(over.at(-1)).toBe('Too late.')
  })

  it('ends after its last words, or at once', async () => {
    const t = open()
    let isFinished = false
    t.write('Goodbye')
    void t.voice.finish().then(() => {
      isFinished = true
    })
    t.write('never')
    await t.settle()
    expect([t.texts(), isFinished]).toEqual([['Goodbye'], false])
    t.said[0]?.heard()
    await t.settle()
    expect(isFinished).toBe(true)
    await open().voice.finish()
    const other = open()
    other.write('Faulty')
    other.voice.stop()
    expect(other.did).toEqual(['cut'])
  })

  it('is bounded', () => {
    const t = open()
    t.write('a'.repeat(60_000), { isLast: true })
    expect(() => t.write('b'.repeat(60_000))).toThrow('too much text waits')
    const many = open()
    const next = () => many.write('a', { isLast: true })
    for (let count = 0; count < 1001; count++) next()
    expect(next).toThrow('too many texts wait')
  })
})

it('sensitivity decides about the words that interrupt', () => {
  expect(interruptionRules('any', 'low')).toEqual({ barge: 'complete', bargeMinWords: 2, keys: 'interrupt' })
  expect(interruptionRules('speech', 'medium')).toEqual({ barge: 'any', bargeMinWords: 2, keys: 'ignored' })
})
