import { describe, expect, it } from 'vitest'
import { readVoskMessage, voskConfig } from './vosk-messages.ts'

describe('messages of a vosk-server', () => {
  it('reads partial and final transcripts, with the mean of the words’ confidence', () => {
    expect(readVoskMessage('{"partial": "one two"}')).toEqual({ text: 'one two', isFinal: false })
    const result = [
      { conf: 1, start: 0.1, end: 0.3, word: 'one' },
      { conf: 0.5, start: 0.4, end: 0.6, word: 'two' },
    ]
    expect(readVoskMessage(JSON.stringify({ result, text: 'one two' }))).toEqual({
      text: 'one two',
      isFinal: true,
      confidence: 0.75,
    })
    expect(readVoskMessage('{"text": ""}')).toEqual({ text: '', isFinal: true })
  })

  it('takes the first of alternatives, whose score is no probability', () => {
    const alternatives = [
      { confidence: 231.4, text: 'yes' },
      { confidence: 12, text: 'yet' },
    ]
    expect(readVoskMessage(JSON.stringify({ alternatives }))).toEqual({ text: 'yes', isFinal: true })
  })

  it('leaves out the unknown word, and a confidence that is none', () => {
    expect(readVoskMessage('{"text": "[unk] sales [unk]", "result": [{"conf": 3}, {"conf": "1"}]}')).toEqual({
      text: 'sales',
      isFinal: true,
    })
  })

  it('passes over what it does not know, and refuses what is no object', () => {
    for (const other of [
      '{}',
      '{"text": 5}',
      '{"spk": [1, 2]}',
      '{"alternatives": []}',
      '{"alternatives": [7]}',
    ])
      expect(readVoskMessage(other)).toBeUndefined()
    for (const bad of ['', 'hello', '[]', 'null', '"text"', '{"text":'])
      expect(() => readVoskMessage(bad)).toThrow('a JSON object expected')
  })

  it('restricts the server to the phrases and the unknown word, where there are any', () => {
    expect(JSON.parse(voskConfig(16_000, []))).toEqual({ config: { sample_rate: 16_000 } })
    expect(JSON.parse(voskConfig(8000, ['Sales', 'the Shop']))).toEqual({
      config: { sample_rate: 8000, phrase_list: ['sales', 'the shop', '[unk]'] },
    })
  })
})
