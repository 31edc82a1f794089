import { expect, it } from 'vitest'
import { noRecogniser } from './no-recogniser.ts'

it('fails every recognition with what is missing, unless that was given up', async () => {
  const told: string[] = []
  const listener = { onTranscript: () => {}, onFailure: (error: Error) => told.push(error.message) }
  noRecogniser.open({ sampleRate: 8000 }, listener).close()
  const recognition = noRecogniser.open({ sampleRate: 8000 }, listener)
  expect(told).toEqual([])
  recognition.write(new Int16Array(160))
  await recognition.end()
  expect(told).toEqual(['no recogniser is configured (media.speech.recogniser)'])
})
