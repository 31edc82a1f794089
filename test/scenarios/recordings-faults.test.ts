/** @schedule tones: listens for speech and measures a recorded tone with wide limits. */

import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { application, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { apiToken, authorization, fetchWav, recordingStarts, toneMs } from '../support/recorded.ts'
import { until } from '../support/until.ts'

const callerTone = 440

it('a call on a gateway with a full disk is not recorded, and continues', async () => {
  const full = await Gateway.start({
    domains: [
      application(
        'voicemail.test',
        scripted('record', { play: { url: 'say:Nothing was recorded.' } }, 'hangup'),
      ),
    ],
    media: { recordings: { minFree: '1000TiB' } },
  })
  try {
    const carrier = await Carrier.calls(full, { domain: 'voicemail.test', scenario: 'caller-released' })
    await carrier.talks('answered', callerTone)
    await carrier.hearsVoice()
    await carrier.done()
    expect(await full.refusal('recording_no_space')).toMatchObject({ level: 50, minFree: 1000 * 2 ** 40 })
    expect(await full.record(carrier.callId)).not.toHaveProperty('recordings')
    expect(await full.metric('recordings_free_bytes')).toBeGreaterThan(0)
    await full.settled()
  } finally {
    await full.stop()
  }
})

it('a recording of a gateway that died is available from the next one', async () => {
  const documents = await DocumentServer.open()
  onTestFinished(() => documents.close())
  const dataDir = mkdtempSync(join(tmpdir(), 'recordings-data-'))
  const record = { end_silence_timeout: 0, status_url: documents.put('/lost', '') }
  const options = {
    domains: [application('voicemail.test', scripted({ record }))],
    dataDir,
    http: { apiToken },
  }
  const first = await Gateway.start(options)
  const carrier = await Carrier.calls(first, { domain: 'voicemail.test', scenario: 'caller-released' })
  await carrier.talks('answered', callerTone)
  await recordingStarts(first)
  const folder = join(dataDir, 'recordings', 'default')
  const part = (): string => join(folder, readdirSync(folder)[0] ?? '')
  await until('two seconds are written', () => statSync(part()).size >= 32_000)
  process.kill(first.pid, 'SIGKILL')
  await first.ended()
  // Three minutes without a write mark the file as abandoned.
  utimesSync(part(), new Date(), new Date(Date.now() - 180_000))
  const next = await Gateway.start(options)
  try {
    const [name = ''] = readdirSync(folder)
    const url = `${next.url}/api/recordings/${name.replace('.wav', '')}`
    const recording = await (await fetch(url, { headers: { authorization } })).json()
    expect(recording).toMatchObject({ status: 'completed', end_reason: 'interrupted' })
    const received = () => documents.asked('/lost').map(({ body }) => JSON.parse(body).params)
    const end = (): { state: string }[] => received().filter(({ state }) => state !== 'recording')
    expect(
      await until('the end of the recording is reported', end, ({ length }) => length > 0),
    ).toMatchObject([
      {
        state: 'finished',
        recording_id: name.replace('.wav', ''),
        url: expect.stringMatching(/^https?:.*\/audio\?/),
      },
    ])
    const { channels } = await fetchWav((recording as { url: string }).url)
    expect(toneMs(channels[0]!, callerTone)).toBeGreaterThan(1500)
  } finally {
    await next.stop()
    await first.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
})
