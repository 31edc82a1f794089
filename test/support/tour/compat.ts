import type { TestStreamServer } from '../../../gateway/streams/testing/stream-server.ts'
import { xmlText } from '../applications.ts'
import type { DocumentServer } from '../documents.ts'
import { until } from '../until.ts'
import { callee } from './calls.ts'
import type { ApiRecorder } from './recorder.ts'

const account = '/api/laml/2010-04-01/Accounts/default'
const from = '+15550100'

/** Requests of the XML family. `streams` receives the audio of a call. */
export const tourCompat = async (
  api: ApiRecorder,
  documents: DocumentServer,
  streams: TestStreamServer,
): Promise<void> => {
  await api.form('GET', account)
  await tourDocuments(api)
  await tourApplications(api)
  await tourCall(api, streams)
  await tourConference(api)
  await tourQueue(api, documents)
}

const tourDocuments = async (api: ApiRecorder): Promise<void> => {
  const path = `${account}/LamlBins`
  const { sid } = await api.form('POST', path, { Name: 'Welcome', Contents: xmlText('<Say>Welcome.</Say>') })
  await api.form('POST', path, { Name: 'Welcome', Contents: '<Response>' }, 400)
  await api.form('GET', path)
  await api.form('GET', `${path}/${sid}`)
  await api.form('POST', `${path}/${sid}`, { Name: 'Greeting' })
  await api.form('DELETE', `${path}/${sid}`)
}

const tourApplications = async (api: ApiRecorder): Promise<void> => {
  const path = `${account}/Applications`
  const { sid } = await api.form('POST', path, {
    FriendlyName: 'Shop',
    VoiceUrl: 'https://app.example.com/call.xml',
  })
  await api.form('POST', path, { FriendlyName: 'Shop' }, 400)
  await api.form('GET', path)
  await api.form('GET', `${path}/${sid}`)
  await api.form('POST', `${path}/${sid}`, { VoiceMethod: 'GET' })
  await api.form('DELETE', `${path}/${sid}`)
}

/** Places a call with a document, and waits for its answer. */
const talking = async (api: ApiRecorder, ...verbs: readonly string[]) => {
  const carrier = await callee(api)
  const { sid } = await api.form('POST', `${account}/Calls`, {
    To: carrier.uri,
    From: from,
    Twiml: xmlText(...verbs),
  })
  await carrier.sipp.event('confirmed')
  const call = `${account}/Calls/${sid}`
  await until(
    'the call is in progress',
    () => api.form('GET', call),
    ({ status }) => status === 'in-progress',
  )
  return { carrier, sid, call }
}

/** Streams the audio of a call for half a second. What is recorded meanwhile is not empty. */
const tourStream = async (api: ApiRecorder, call: string, streams: TestStreamServer): Promise<void> => {
  const before = streams.of('media').length
  const { sid } = await api.form('POST', `${call}/Streams`, { Url: streams.url, Name: 'live' })
  await until(
    'the server receives audio',
    () => streams.of('media').length - before,
    (count) => count > 25,
  )
  await api.form('POST', `${call}/Streams/${sid}`, { Status: 'stopped' })
}

const tourCall = async (api: ApiRecorder, streams: TestStreamServer): Promise<void> => {
  await api.form('POST', `${account}/Calls`, { From: from }, 400)
  const { carrier, call } = await talking(api, '<Pause length="60"/>')
  await carrier.talks('invited', 440)
  await api.form('GET', `${account}/Calls?PageSize=2`)
  const recording = await api.form('POST', `${call}/Recordings`, { RecordingChannels: 'dual' })
  await api.form('GET', `${call}/Recordings`)
  await api.form('GET', `${call}/Recordings/${recording.sid}`)
  await api.form('POST', `${call}/Recordings/${recording.sid}`, { Status: 'paused' })
  await api.form('POST', `${call}/Recordings/${recording.sid}`, { Status: 'in-progress' })
  const running = () => api.gateway.metric('media_recordings')
  await until('the first recording runs', running, (count) => count === 1)
  await tourStream(api, call, streams)
  await api.form('POST', `${call}/Recordings/${recording.sid}`, { Status: 'stopped' })
  await until('the first recording has ended', running, (count) => count === 0)
  const second = await api.form('POST', `${call}/Recordings`)
  await until('the second recording runs', running, (count) => count === 1)
  await tourStream(api, call, streams)
  await api.form('POST', call, { Status: 'completed' })
  await carrier.done()
  await api.gateway.settled()
  await api.form('POST', call, { Status: 'completed' }, 409)
  const recordings = `${account}/Recordings`
  await until(
    'both recordings are stored',
    () => api.form('GET', recordings),
    (answer) => answer.recordings.every(({ media_url }: { media_url: unknown }) => media_url),
  )
  await api.form('GET', `${recordings}/${recording.sid}`)
  await api.form('DELETE', `${call}/Recordings/${recording.sid}`)
  await api.form('GET', `${recordings}/${recording.sid}`, undefined, 404)
  await api.form('DELETE', `${recordings}/${second.sid}`)
  await api.form('DELETE', call)
  await api.form('GET', call, undefined, 404)
}

const tourConference = async (api: ApiRecorder): Promise<void> => {
  const verb = '<Dial><Conference>standup</Conference></Dial>'
  const calls = [await talking(api, verb), await talking(api, verb)] as const
  const path = `${account}/Conferences`
  const { conferences } = await until(
    'the conference has begun',
    () => api.form('GET', `${path}?FriendlyName=standup`),
    (answer) => answer.conferences.length === 1,
  )
  const conference = `${path}/${conferences[0].sid}`
  await until(
    'both take part',
    () => api.form('GET', `${conference}/Participants`),
    (answer) => answer.participants.length === 2,
  )
  await api.form('GET', conference)
  const participant = `${conference}/Participants/${calls[0].sid}`
  await api.form('GET', participant)
  await api.form('POST', participant, { Muted: true })
  await api.form('DELETE', participant)
  await calls[0].carrier.done()
  await api.form('POST', conference, { Status: 'completed' })
  await calls[1].carrier.done()
  await api.gateway.settled()
  await api.form('GET', conference, undefined, 404)
}

const tourQueue = async (api: ApiRecorder, documents: DocumentServer): Promise<void> => {
  const { carrier, sid } = await talking(api, '<Enqueue>support</Enqueue>')
  const path = `${account}/Queues`
  const { queues } = await until(
    'a caller waits',
    () => api.form('GET', path),
    (answer) => answer.queues.length === 1,
  )
  const queue = `${path}/${queues[0].sid}`
  await api.form('GET', queue)
  await api.form('GET', `${queue}/Members`)
  await api.form('GET', `${queue}/Members/${sid}`)
  const url = documents.put('/next.xml', xmlText('<Hangup/>'))
  await api.form('POST', `${queue}/Members/${sid}`, { Url: url })
  await carrier.done()
  await api.gateway.settled()
}
