import { beforeEach, describe, expect, it } from 'vitest'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { RecordingRig } from '../../../recordings/testing/fake-recorder.ts'
import { asProject, CompatTestSite, ours } from '../../testing/compat-test-site.ts'

const recording = new RecordingRig()
let rig: CompatTestSite

beforeEach(async () => {
  rig = await CompatTestSite.open(recording, await recording.open())
})

const to = 'sip:desk@carrier.example;transport=tcp?X-Order=7'
const least = { To: to, From: '+15550001', Url: 'https://app.example/hello' }
const create = (form: Parameters<CompatTestSite['ask']>[2]) => rig.ask('POST', '/Calls.json', form)

describe('a new call', () => {
  it('can have only the mandatory fields, with the defaults of the family', async () => {
    const answer = await create(least)
    expect(answer.statusCode).toBe(201)
    expect(rig.calls.orders).toEqual([
      {
        projectId: ours,
        to,
        from: '+15550001',
        source: 'compat',
        timeoutMs: 60_000,
        handler: { kind: 'xml', url: 'https://app.example/hello', method: 'POST' },
      },
    ])
    const [row] = rig.calls.rows
    expect(answer.json()).toEqual({
      sid: row?.id,
      account_sid: ours,
      api_version: '2010-04-01',
      parent_call_sid: null,
      phone_number_sid: null,
      status: 'queued',
      direction: 'outbound-api',
      answered_by: null,
      date_created: 'Fri, 02 Jan 2026 03:04:05 +0000',
      date_updated: 'Fri, 02 Jan 2026 03:04:05 +0000',
      to,
      to_formatted: to,
      formatted_to: to,
      from: '+15550001',
      from_formatted: '+15550001',
      formatted_from: '+15550001',
      start_time: null,
      end_time: null,
      duration: 0,
      price: null,
      price_unit: 'USD',
      forwarded_from: null,
      caller_name: null,
      annotation: null,
      group_sid: null,
      sip_result_code: null,
      audio_in_mos: null,
      audio_rtt_avg: null,
      audio_rtt_min: null,
      audio_rtt_max: null,
      audio_out_jitter_avg: null,
      audio_out_jitter_min: null,
      audio_out_jitter_max: null,
      audio_out_lost: null,
      uri: `/2010-04-01/Accounts/${ours}/Calls/${row?.id}`,
      subresource_uris: {
        notifications: null,
        recordings: `/2010-04-01/Accounts/${ours}/Calls/${row?.id}/Recordings`,
        streams: `/2010-04-01/Accounts/${ours}/Calls/${row?.id}/Streams`,
      },
    })
  })

  it('can have all fields of the family', async () => {
    await create([
      ...Object.entries({
        ...least,
        Method: 'GET',
        FallbackUrl: 'https://app.example/else',
        FallbackMethod: 'GET',
        CallerId: '+15559',
        SipAuthUsername: 'me',
        SipAuthPassword: 'a secret',
        Timeout: '30',
        TimeLimit: '600',
        SendDigits: 'ww12#',
        StatusCallback: 'https://app.example/status',
        StatusCallbackMethod: 'GET',
        MachineDetection: 'DetectMessageEnd',
        MachineDetectionTimeout: '10',
        MaxPricePerMinute: '0.1',
        Record: 'true',
        RecordingChannels: 'dual',
        Trim: 'trim-silence',
        RecordingStatusCallback: 'https://app.example/recorded',
      }),
      ...[
        ['StatusCallbackEvent', 'ringing'],
        ['StatusCallbackEvent', 'initiated'],
      ].map(([name = '', value = '']) => [name, value] as const),
      ['RecordingStatusCallbackEvent', 'in-progress'],
    ])
    expect(rig.calls.orders).toEqual([
      {
        projectId: ours,
        to,
        from: '+15550001',
        callerId: '+15559',
        source: 'compat',
        handler: {
          kind: 'xml',
          url: least.Url,
          method: 'GET',
          fallbackUrl: 'https://app.example/else',
          fallbackMethod: 'GET',
        },
        credentials: { username: 'me', password: 'a secret' },
        timeoutMs: 30_000,
        maxDurationMs: 600_000,
        sendDigits: 'ww12#',
        status: {
          url: 'https://app.example/status',
          method: 'GET',
          dialect: 'form',
          states: ['initiated', 'ringing'],
        },
        record: {
          tracks: 'stereo',
          trim: true,
          status: { url: 'https://app.example/recorded', method: 'POST', events: ['in-progress'] },
        },
        detect: { waitForMessageEnd: true, timeoutMs: 10_000 },
      },
    ])
  })

  it.each([
    ['mono', 'inbound', 'in'],
    ['dual', 'outbound', 'out'],
    ['mono', 'both', 'both'],
    ['dual', 'both', 'stereo'],
  ])('with %s is recorded as requested: %s is %s', async (RecordingChannels, RecordingTrack, tracks) => {
    await create({ ...least, Record: 'true', RecordingChannels, RecordingTrack })
    expect(rig.calls.orders[0]?.record).toEqual({ tracks, trim: false })
  })

  it('runs the requested machine detection beside the document', async () => {
    const callback = {
      AsyncAmdStatusCallback: 'https://app.example/amd',
      AsyncAmdStatusCallbackMethod: 'GET',
    }
    const how = { MachineDetectionSpeechThreshold: '2400', MachineDetectionSpeechEndThreshold: '1200' }
    const more = { MachineDetectionSilenceTimeout: '5000', MachineWordsThreshold: '3', AsyncAmd: 'true' }
    await create({ ...least, MachineDetection: 'Enable', ...callback, ...how, ...more })
    await create({ ...least, MachineDetection: 'Enable', AsyncAmd: 'true' })
    await create({ ...least, MachineDetection: 'none', ...more })
    const plain = { waitForMessageEnd: false, timeoutMs: 30_000 }
    expect(rig.calls.orders.map(({ detect }) => detect)).toEqual([
      {
        ...plain,
        thresholds: { initialTimeoutMs: 5000, endSilenceMs: 1200, voiceThresholdMs: 2400, wordsThreshold: 3 },
        background: { callback: { url: 'https://app.example/amd', method: 'GET' } },
      },
      { ...plain, background: {} },
      undefined,
    ])
  })

  it.each([
    ['MachineDetectionSpeechThreshold', '999'],
    ['MachineDetectionSpeechEndThreshold', '5001'],
    ['MachineDetectionSilenceTimeout', '1999'],
    ['MachineWordsThreshold', '11'],
    ['RecordingTrack', 'left'],
  ])('with %s %s is rejected', async (name, value) => {
    const answer = await rig.ask('POST', '/Calls', { ...least, [name]: value })
    expect([answer.statusCode, answer.json().message]).toEqual([400, expect.stringContaining(name)])
    expect(rig.calls.orders).toEqual([])
  })

  it('can have an inline document, a stored one, or a stored URL', async () => {
    const { Url: _, ...rest } = least
    await create({ ...rest, Twiml: '<Response><Hangup/></Response>' })
    const bin = await rig.ask('POST', '/LamlBins', { Name: 'bye', Contents: '<Response/>' })
    await create({ ...rest, ApplicationSid: bin.json().sid })
    const application = await rig.ask('POST', '/Applications', {
      VoiceUrl: 'https://app.example/a',
      StatusCallback: 'https://app.example/s',
      VoiceFallbackUrl: 'https://app.example/b',
      VoiceFallbackMethod: 'GET',
    })
    await create({ ...rest, ApplicationSid: application.json().sid })
    expect(rig.calls.orders.map(({ handler, status }) => ({ handler, status }))).toEqual([
      { handler: { kind: 'xml', document: '<Response><Hangup/></Response>', name: 'Twiml' } },
      { handler: { kind: 'xml', document: '<Response/>', name: 'bye' } },
      {
        handler: {
          kind: 'xml',
          url: 'https://app.example/a',
          method: 'POST',
          fallbackUrl: 'https://app.example/b',
          fallbackMethod: 'GET',
        },
        status: { url: 'https://app.example/s', method: 'POST', dialect: 'form', states: ['completed'] },
      },
    ])
  })

  it.each([
    ['no To', { To: undefined }, 21201],
    ['an empty To', { To: '' }, 21211],
    ['a To that is none', { To: 'mailto:x@y.example' }, 21211],
    ['a To with a line break', { To: 'sip:a@b\r\nX: y' }, 21211],
    ['no From', { From: undefined }, 21213],
    ['a From with a control', { From: 'a\u0000b' }, 21212],
    ['no document', { Url: undefined }, 21205],
    ['a URL that is none', { Url: 'ftp://x' }, 21402],
    ['an application that is not there', { Url: undefined, ApplicationSid: 'nothing' }, 21218],
    ['a method that is none', { Method: 'DELETE' }, 21209],
    ['a time that is none', { Timeout: 'soon' }, 21208],
    ['a time that is too long', { Timeout: '601' }, 21208],
    ['an event that is none', { StatusCallbackEvent: 'all' }, 21626],
    ['a document that is none', { Url: undefined, Twiml: '<Response>' }, 20422],
    ['a parameter that is none', { Project: 'other' }, 10000],
    ['a password without its user', { SipAuthPassword: 'x' }, 10000],
  ])('is rejected with %s', async (_, change: Record<string, string | undefined>, code) => {
    const form = Object.entries({ ...least, ...change }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    )
    const answer = await create(form)
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      {
        code,
        message: expect.any(String),
        more_info: expect.stringContaining('/docs/errors/'),
        status: 400,
      },
    ])
    expect(rig.calls.orders).toEqual([])
  })

  it('is rejected to an unknown or forbidden address, and over the call limit', async () => {
    const refusals = [
      'unknown_address',
      'no_carrier',
      'bad_request',
      'not_permitted',
      'over_call_limit',
      'draining',
    ] as const
    const answers = []
    for (const code of refusals) {
      rig.calls.failure = new TrunklineError(code, undefined, { attribute: 'to' })
      const answer = await create(least)
      const { code: number, more_info } = answer.json()
      answers.push([answer.statusCode, number, more_info.replace(/.*\//, '')])
    }
    expect(answers).toEqual([
      [400, 21211, 'unknown_address'],
      [400, 21211, 'no_carrier'],
      [400, 21211, 'invalid_field'],
      [403, 21211, 'not_permitted'],
      [429, 20429, 'over_call_limit'],
      [503, 20500, 'draining'],
    ])
  })
})

describe('a call', () => {
  it('is available under both prefixes, with and without .json', async () => {
    const row = rig.calls.add({
      status: 'completed',
      answeredAt: rig.calls.now + 2_000,
      endedAt: rig.calls.now + 12_400,
      answeredBy: 'human',
      sipStatus: 200,
      parentId: 'p',
    })
    for (const prefix of ['/2010-04-01', '/api/laml/2010-04-01'])
      for (const ending of ['', '.json']) {
        const answer = await rig.ask('GET', `/Calls/${row.id}${ending}`, undefined, { prefix })
        expect(answer.json()).toMatchObject({
          sid: row.id,
          duration: 10,
          answered_by: 'human',
          sip_result_code: 200,
          audio_in_mos: 4.2,
          audio_out_lost: 3,
          audio_out_jitter_avg: 1.5,
          audio_rtt_avg: null,
          start_time: 'Fri, 02 Jan 2026 03:04:05 +0000',
          end_time: 'Fri, 02 Jan 2026 03:04:17 +0000',
          parent_call_sid: 'p',
          uri: `${prefix}/Accounts/${ours}/Calls/${row.id}`,
        })
      }
  })

  it('can be redirected to a URL or a document, ended, and removed', async () => {
    const { id } = rig.calls.add()
    const path = `/Calls/${id}.json`
    await rig.ask('POST', path, {
      Url: 'https://app.example/next',
      Method: 'GET',
      StatusCallback: 'https://app.example/s',
    })
    await rig.ask('POST', path, { Twiml: '<Response/>' })
    expect(rig.calls.redirects).toEqual([
      [
        id,
        { kind: 'xml', url: 'https://app.example/next', method: 'GET' },
        { url: 'https://app.example/s', method: 'POST', dialect: 'form', states: ['completed'] },
      ],
      [id, { kind: 'xml', document: '<Response/>', name: 'Twiml' }, undefined],
    ])
    const codes = []
    for (const form of ['Status=canceled', 'Status=paused', '']) {
      const answer = await rig.ask('POST', path, form)
      codes.push([answer.statusCode, answer.json().code])
    }
    expect(codes).toEqual([
      [409, 21220],
      [400, 10000],
      [400, 10000],
    ])
    const removed = await rig.ask('DELETE', path)
    expect([removed.statusCode, removed.json().code]).toEqual([409, 20009])
    const ended = await rig.ask('POST', path, { Status: 'completed' })
    expect(ended.json()).toMatchObject({ sid: id, status: 'completed' })
    const over = rig.calls.add({ status: 'completed', endedAt: 1 })
    const gone = await rig.ask('DELETE', `/Calls/${over.id}.json`)
    expect([gone.statusCode, gone.body]).toEqual([204, ''])
    const again = await rig.ask('POST', `/Calls/${over.id}.json`, { Status: 'completed' })
    expect([again.statusCode, again.json().code]).toEqual([404, 20404])
  })

  it('accepts the curl request of the documentation', async () => {
    const answer = await rig.site.inject({
      method: 'POST',
      url: `/api/laml/2010-04-01/Accounts/${ours}/Calls.json`,
      headers: { ...asProject(), 'content-type': 'application/x-www-form-urlencoded' },
      payload: `Url=https%3A%2F%2Fapp.example%2F&From=%2B15550001&To=sip%3Adesk%40carrier.example&SipAuthUsername=u&SipAuthPassword=p`,
    })
    expect([answer.statusCode, rig.calls.orders[0]?.credentials]).toEqual([
      201,
      { username: 'u', password: 'p' },
    ])
  })
})

describe('the list of calls', () => {
  it('has pages, with links under the requested prefix and suffix', async () => {
    for (let i = 0; i < 5; i++) rig.calls.add({ to: `+1555000${i}` })
    const seen: string[] = []
    let next = `/api/laml/2010-04-01/Accounts/${ours}/Calls.json?PageSize=2&From=%2B15550001`
    const pages = []
    while (next) {
      const answer = await rig.site.inject({ url: next, headers: asProject() })
      const page = answer.json()
      pages.push([page.page, page.page_size, page.calls.length])
      seen.push(...page.calls.map(({ to }: { to: string }) => to))
      expect(page.first_page_uri).toBe(
        `/api/laml/2010-04-01/Accounts/${ours}/Calls.json?PageSize=2&From=%2B15550001&Page=0`,
      )
      next = page.next_page_uri
    }
    expect(pages).toEqual([
      [0, 2, 2],
      [1, 2, 2],
      [2, 2, 1],
    ])
    expect(seen).toEqual(['+15550004', '+15550003', '+15550002', '+15550001', '+15550000'])
  })

  it('can be filtered by every field of the family', async () => {
    const query = new URLSearchParams({
      To: '+1',
      From: '+2',
      Status: 'no-answer',
      ParentCallSid: 'p',
      Page: '3',
      PageSize: '9',
      'StartTime>': '2026-01-02',
      'StartTime<': '2026-01-03T00:00:00Z',
      EndTime: '2026-01-02',
    })
    expect((await rig.ask('GET', `/Calls?${query}`)).statusCode).toBe(200)
    const day = Date.UTC(2026, 0, 2)
    expect(rig.calls.queries).toEqual([
      {
        to: '+1',
        from: '+2',
        status: 'no-answer',
        parentId: 'p',
        number: 3,
        size: 9,
        startedFrom: day,
        startedUntil: day + 86_401_000,
        endedFrom: day,
        endedUntil: day + 86_400_000,
      },
    ])
  })

  it.each([
    ['Status', 'gone'],
    ['StartTime', 'yesterday'],
    ['StartTime', '2026-13-40'],
    ['PageSize', '1000000'],
    ['PageSize', '0'],
    ['Page', '-1'],
    ['PageToken', 'PA1.00000000000000000000000000000000'],
    ['PageToken', "PA1' OR 1=1 --"],
    ['Sort', 'id'],
  ])('is rejected with %s=%s', async (name, value) => {
    const answer = await rig.ask('GET', `/Calls.json?${new URLSearchParams({ [name]: value })}`)
    expect([answer.statusCode, answer.json().code]).toEqual([400, 10000])
  })
})
