import { expect, test } from 'vitest'
import { FakeRecogniser } from '../../speech/testing/fake-recogniser.ts'
import { PlainRecogniser } from './plain-recogniser.ts'

test('transcripts and failures of the project’s recogniser are passed on', () => {
  const fake = new FakeRecogniser()
  const events: unknown[] = []
  const recognition = new PlainRecogniser('vosk', fake).open(
    { rate: 8000, language: 'multi', hints: ['a'], isSemantic: true, endOfSpeechMs: 700 },
    {
      onTranscript: (transcript) => events.push(transcript),
      onTurn: () => {},
      onFailure: ({ kind, message }) => events.push({ kind, message }),
    },
  )
  const [opened] = fake.opened
  expect(opened!.request).toEqual({ sampleRate: 8000, hints: ['a'] })
  recognition.write(new Int16Array(160))
  recognition.voice(true)
  opened!.partial('hel')
  opened!.final('hello', 0.9)
  expect(opened!.heard).toBe(160)
  opened!.fail()
  expect(events).toEqual([
    { text: 'hel', isFinal: false },
    { text: 'hello', isFinal: true, confidence: 0.9 },
    { kind: 'connection', message: 'the connection was lost' },
  ])
  recognition.close()
  expect(opened!.state).toBe('closed')
})
