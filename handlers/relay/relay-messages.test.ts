import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRelayMessage } from './relay-messages.ts'

const read = (message: object) => readRelayMessage(JSON.stringify(message))

describe('messages of a text server', () => {
  it('are text, with its manner', () => {
    expect(read({ type: 'text', token: 'Hi' })).toEqual({ type: 'text', token: 'Hi', isLast: false })
    const whole = { token: '', last: true, lang: 'fr-FR', interruptible: false, preemptible: true }
    expect(read({ type: 'text', ...whole })).toEqual({
      type: 'text',
      token: '',
      isLast: true,
      language: 'fr-FR',
      interruptible: 'none',
      isPreemptible: true,
    })
    expect(read({ type: 'text', token: 'a', last: 'true', interruptible: 'dtmf' })).toMatchObject({
      isLast: true,
      interruptible: 'dtmf',
    })
  })

  it('are sounds, keys, languages and the end', () => {
    const source = 'https://x.example/a.wav'
    expect(read({ type: 'play', source })).toEqual({ type: 'play', source, loops: 1 })
    expect(read({ type: 'play', source, loop: 0, interruptible: true })).toMatchObject({
      loops: 0,
      interruptible: 'any',
    })
    expect(read({ type: 'sendDigits', digits: '12w#*' })).toEqual({ type: 'sendDigits', digits: '12w#*' })
    expect(read({ type: 'language', ttsLanguage: 'sv-SE' })).toEqual({ type: 'language', spoken: 'sv-SE' })
    expect(read({ type: 'language', transcriptionLanguage: 'multi' })).toEqual({
      type: 'language',
      heard: 'multi',
    })
    expect(read({ type: 'end' })).toEqual({ type: 'end' })
    expect(read({ type: 'end', handoffData: '{"a":1}' })).toEqual({ type: 'end', handoffData: '{"a":1}' })
  })

  it.each([
    ['no JSON', 'hello', 'a JSON object'],
    ['a list', '[]', 'a JSON object'],
    ['no type', '{}', 'type: text, play'],
    ['another type', '{"type":"speak"}', 'type: text, play'],
    ['text without a token', '{"type":"text","last":true}', 'token'],
    ['a token that is a number', '{"type":"text","token":7}', 'token'],
    ['a strange last', '{"type":"text","token":"a","last":"yes"}', 'last'],
    ['a strange manner', '{"type":"text","token":"a","interruptible":"voice"}', 'interruptible'],
    ['a strange language', '{"type":"text","token":"a","lang":"e n"}', 'lang'],
    ['a sound without a URL', '{"type":"play","source":"a.wav"}', 'source'],
    ['a sound of a file', '{"type":"play","source":"file:///etc/passwd"}', 'source'],
    ['a strange loop', '{"type":"play","source":"https://x.example/a","loop":-1}', 'loop'],
    ['other keys', '{"type":"sendDigits","digits":"1A"}', 'digits'],
    ['no keys', '{"type":"sendDigits","digits":""}', 'digits'],
    ['too many keys', JSON.stringify({ type: 'sendDigits', digits: '1'.repeat(65) }), 'digits'],
    ['no language', '{"type":"language"}', 'ttsLanguage'],
    ['data that is no text', '{"type":"end","handoffData":{}}', 'handoffData'],
  ])('are not %s', (_, text, reason) => {
    expect(() => readRelayMessage(text)).toThrow(reason)
  })

  it('of any content are read, or a fault is named', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        try {
          readRelayMessage(text)
        } catch (error) {
          expect((error as Error).message).toMatch(/expected$/)
        }
      }),
    )
  })
})
