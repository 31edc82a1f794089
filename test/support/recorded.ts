import { expect } from 'vitest'
import { goertzel } from '../../media/codecs/tone.ts'
import { type ReadWav, readWavBytes } from '../../media/record/testing/recording-files.ts'
import type { Carrier } from './carrier.ts'
import type { Gateway } from './gateway.ts'
import { until } from './until.ts'

/** Default `http.apiToken` of gateways. */
export const apiToken = 'token-of-the-scenario'

/** Authorization header of API requests, with a token of the first project. */
export const authorizationOf = (token: string): string =>
  `Basic ${Buffer.from(`default:${token}`).toString('base64')}`

/** Authorization header of API requests with {@link apiToken}. */
export const authorization = authorizationOf(apiToken)

/** Reads the only recording of a call from the API. */
export const recordingOf = async (
  gateway: Gateway,
  carrier: Carrier,
): Promise<Record<string, unknown> & { readonly url: string }> => {
  const cdr = await gateway.record(carrier.callId)
  const [{ recording } = { recording: '' }] = cdr.recordings as readonly { recording: string }[]
  const answer = await fetch(`${gateway.url}/api/recordings/${recording}`, { headers: { authorization } })
  return (await answer.json()) as Record<string, unknown> & { readonly url: string }
}

/** Waits until exactly one recording is active. */
export const recordingStarts = async (gateway: Gateway): Promise<void> => {
  await until(
    'the recording is under way',
    () => gateway.metric('recordings'),
    (running) => running === 1,
  )
}

/** Returns the audio at a URL. */
export const fetchWav = async (url: string): Promise<ReadWav> => {
  const answer = await fetch(url)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/wav'])
  return readWavBytes(Buffer.from(await answer.arrayBuffer()))
}

/** Returns the milliseconds of a channel that contain only this tone. */
export const toneMs = (samples: Int16Array, frequency: number): number => {
  let ms = 0
  for (let at = 0; at + 160 <= samples.length; at += 160) {
    const window = samples.subarray(at, at + 160)
    const loud = window.some((sample) => Math.abs(sample) > 1000)
    if (loud && goertzel(window, frequency) > 0.9) ms += 20
  }
  return ms
}
