import { xmlAbsent, xmlConformance } from '../../test/conformance/xml.ts'
import type { Row } from '../../test/conformance/xml-rows.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

const indented = (element: string): string =>
  '– '.repeat(element.split('/').length - 1) + element.split('/').at(-1)

const rowOf = ({ element, attribute, means, fallback, state }: Row): string => {
  const names = attribute ? ['', `\`${attribute}\``] : [`\`${indented(element)}\``, '']
  return `| ${[...names, cell(means), cell(fallback), cell(state)].join(' | ')} |`
}

const absentOf = ({ element, attribute, means }: Row): string => {
  const name = attribute ? `${attribute}="…"` : ''
  return `| \`${element.replaceAll('/', ' › ')}\` | ${name && `\`${name}\``} | ${cell(means)} |`
}

/** Nouns stand below the verb in which they are. */
const inOrder = (rows: readonly Row[]): readonly Row[] => {
  const verbs = [...new Set(rows.map(({ element }) => element.split('/')[0]))]
  return verbs.flatMap((verb) => rows.filter(({ element }) => element.split('/')[0] === verb))
}

/** The page of the XML language, from its conformance table. */
export const xmlPage = (): string =>
  [
    '# XML documents',
    '',
    ...text,
    '## Verbs and nouns',
    '',
    '<!-- Written by scripts/document; do not edit. -->',
    '',
    'Every row has a test, named in `test/conformance/`.',
    '',
    '| Element | Attribute | | Default | State |',
    '| --- | --- | --- | --- | --- |',
    ...inOrder(xmlConformance).map(rowOf),
    '',
    '## What is not there',
    '',
    'Documents may hold these. They have no effect, and the call’s log has a warning with the code 12200, line and column.',
    '',
    '| Element | Attribute | What it would do |',
    '| --- | --- | --- |',
    ...xmlAbsent.map(absentOf),
    '',
    'Audio in GSM 06.10, raw or in a WAV, cannot be played: that is a warning, and the next verb has its turn; an `rtmp:` URL is an error (11100). Documents for messages and faxes (`Message`, `Receive`) are not there: their verbs are passed over.',
    '',
  ].join('\n')

const text: readonly string[] = `    <Response>
      <Say>Welcome.</Say>
      <Dial timeout="30"><Client>alice</Client></Dial>
    </Response>

The verbs run from top to bottom, each when the one before is over; after the last one the call is hung up. An empty \`Response\` answers. The first verb that needs
audio answers; \`Pause\` does not, \`Reject\` never does, and \`Dial answerOnBridge="true"\` waits for whom it calls.

A document is read as a whole before its first verb runs. It has at most 64 kB. What keeps it from running is an error: malformed XML (12100), a DOCTYPE (12100), a
wrong content type (12300), a URL that cannot be used (11100, 31922). Everything else that is wrong is a warning in the call's log with code, line and column: an unknown
element or attribute has no effect, a value that cannot be used counts as the default, and a noun that cannot be called is not called.

In a document that is kept here (a resource, or in the configuration or a request), \`{{From}}\` stands for what the field \`From\` of a [request](#actions) for it would say: any of those of every
request, such as \`{{SipUser}}\` or \`{{SipHeader_X-Order}}\`, in texts and in values of attributes. A name that is no field's stands for nothing. What is filled in is never markup, and not URL-encoded
either; it is 64 kB at most (11750).

## Actions

The document that an \`action\` answers replaces the rest. Relative URLs start from the document. The fragment of a URL may change its [time-outs](webhooks.md). When the
caller hangs up in the middle of a verb, the action is still told what came of it, in the background and again where that fails; its answer means nothing then. Not so
\`Gather\`, which has nothing to tell.

Each request for a document is a form (POST), or has the same in its query (GET), in this order:

| Field | |
| --- | --- |
| \`CallSid\`, \`AccountSid\`, \`ApiVersion\` | ids of the call and of the project, and \`2010-04-01\` |
| \`From\`, \`To\` | |
| \`CallStatus\` | \`ringing\`, \`in-progress\`, or \`completed\` |
| \`Direction\` | \`inbound\`, \`outbound-api\`, or \`outbound-dial\` for whom \`Dial\` has called |
| \`ParentCallSid\` | with \`outbound-dial\`: the call whose \`Dial\` it was |
| \`Caller\`, \`Called\`, \`CallerName\` | |
| \`SipUser\`, \`SipDomain\`, \`SipCallId\`, \`SipHeader_X-…\` | of a SIP call; header values are percent-decoded once |
| \`UserVariable_…\` | of a browser's call: each of its \`userVariables\` ([SDK](sdk.md#variables)); what is no text comes as JSON |

and then the fields of the verb. When a document cannot be had or is invalid, the \`fallbackUrl\` of the handler is asked with \`ErrorCode\` and \`ErrorUrl\` besides: 11200 no answer
in time or no connection, 11210 no such name, 11215 too many redirects (also: 32 documents in a row that did nothing), 11217 a status other than 2xx, 11220 a bad
certificate, 11750 larger than 64 kB, or the code of the document's first error.

\`DialCallStatus\` is \`completed\`, \`busy\`, \`no-answer\`, \`failed\` or \`canceled\` (the caller hung up while it rang); \`answered\` for a conference. \`QueueResult\` is \`bridged\`, \`leave\`,
\`queue-full\`, \`hangup\` or \`system-error\`. \`ReferCallStatus\` is \`in-progress\` (the other call), \`busy\`, \`no-answer\`, \`canceled\` or \`failed\`.

## Documents beside the call

The \`url\` of a noun runs on who is called, and \`waitUrl\` on who waits. There \`Say\`, \`Play\`, \`Pause\`, \`Gather\`, \`Redirect\`, \`Hangup\` and \`Leave\` have a meaning. Who hangs up in a
\`url\` document, or is hung up by it, is not joined. \`waitUrl\` is asked again when its document is over, at most once a second.

## Callbacks

They are delivered in the background, in order for each call.

| Callback | Fields |
| --- | --- |
| \`statusCallback\` of who is called | \`AccountSid\`, \`ApiVersion\`, \`CallSid\`, \`CallStatus\` (\`initiated\`, \`ringing\`, \`in-progress\`, \`completed\`, \`busy\`, \`no-answer\`, \`failed\`, \`canceled\`), \`Direction\`, \`From\`, \`To\`, \`Timestamp\`, \`SequenceNumber\` from 0, \`CallbackSource\`, \`CallDuration\`, \`ParentCallSid\`, \`SipResultCode\`, \`SipCallId\`, \`SipHeader_X-…\` |
| \`recordingStatusCallback\` | \`AccountSid\`, \`CallSid\`, \`ConferenceSid\`, \`RecordingSid\`, \`RecordingUrl\`, \`RecordingStatus\` (\`in-progress\`, \`completed\`, \`absent\`, \`failed\`), \`RecordingDuration\`, \`RecordingChannels\`, \`RecordingSource\` (\`RecordVerb\`, \`DialVerb\`, \`Conference\`) |
| \`statusCallback\` of a conference | \`ConferenceSid\`, \`FriendlyName\`, \`AccountSid\`, \`SequenceNumber\`, \`Timestamp\`, \`StatusCallbackEvent\` (\`conference-start\`, \`conference-end\`, \`participant-join\`, \`-leave\`, \`-mute\`, \`-unmute\`, \`-hold\`, \`-unhold\`, \`-speech-start\`), \`CallSid\`, \`Muted\`, \`Hold\` |
| \`statusCallback\` of a stream | \`AccountSid\`, \`CallSid\`, \`StreamSid\`, \`StreamName\`, \`StreamEvent\`, \`StreamError\` |
| \`partialResultCallback\` | those of a document request, \`SequenceNumber\`, \`UnstableSpeechResult\` |

## Storage of recordings

\`storageUrl\` of \`Record\` and \`recordingStorageUrl\` of \`Dial\` take the finished recording: the file is the body of the request, its type is \`audio/wav\`, and nothing of it is signed, so
that a URL that a store has signed will do. User and password in the URL become Basic authentication. The [rules for customers' URLs](webhooks.md) hold,
but a try may take 10 minutes. Four files are on their way to one server at once.

A \`PUT\` that is not taken (no answer, 408, 429, 5xx) is repeated after 2 s, 10 s and 60 s; a \`POST\` only where nothing of it can have arrived, or after 429. What was not stored when the
gateway stops is not sent later. The recording is [kept here](recordings.md) as well, in any case.

\`recordingStatusCallback\` hears of \`completed\` when that is over: \`RecordingUrl\` is the storage's URL without user, password, query and fragment where it was taken, else the link to the one
that is kept here. Actions do not wait for it, and have that link. The log has \`upload stored\`, or why not (\`later\`, \`refused\`, \`given-up\`, \`dropped\`), and
\`recording_uploads_total{outcome}\` counts them.
`.split('\n')
