import { expect, it } from 'vitest'
import { noRecogniser } from './no-recogniser.ts'

it('fails every recognition with the missing setting, unless the recognition was closed', async () => {
  const failures: string[] = []
  const listener = { onTranscript: () => {}, onFailure: (error: Error) => failures.push(error.message) }
  noRecogniser.open({ sampleRate: 8000 }, listener).close()
  const recognition = noRecogniser.open({ sampleRate: 8000 }, listener)
  expect(failures).toEqual([])
  recognition.write(new Int16Array(160))
  await recognition.end()
  expect(failures).toEqual(['no recogniser is configured (media.speech.recogniser)'])
})
