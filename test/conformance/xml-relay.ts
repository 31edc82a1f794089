import { type Row, rowsOf } from './xml-rows.ts'

const relay = 'verbs/connect-relay.test.ts'
const reads = 'reads all that has an effect'
const names = 'names the voice and language of %s'
const lower = 'reads names in lower case, as the published library writes some'
const defaults = 'has the defaults of the hosted service'

const voice = {
  ttsProvider: [
    'provider of the voice: `<provider>.<voice>` is a [name](agent-engines.md#names-in-documents)',
    '`ElevenLabs`',
    names,
  ],
  voice: ['voice', 'that of the engine', names],
} as const

const recogniser = {
  transcriptionProvider: [
    'recogniser: `<provider>:<model>` is a [name](agent-engines.md#names-in-documents)',
    'that of the engine',
    reads,
  ],
  speechModel: ['model of the recogniser', '', reads],
} as const

const unused = 'no effect: one recogniser hears all languages'

/** `ConversationRelay`: a server that has the texts of a conversation. */
export const relayRows: readonly Row[] = [
  ...rowsOf(
    'Connect/ConversationRelay',
    relay,
    [
      '[text server](#text-servers): the gateway hears and speaks, and a server of yours has the texts',
      'connects the server, and requests the action with the result',
    ],
    {
      url: [
        '`wss:` or `ws:` URL of the server',
        'needed',
        'connects the server, and requests the action with the result',
      ],
      welcomeGreeting: ['first words', 'none', reads],
      welcomeGreetingInterruptible: ['input that interrupts them, as `interruptible`', '`any`', reads],
      language: ['language of both sides', '`en-US`', 'takes the voice of its language from the list'],
      ttsLanguage: ['language of the voice', '`language`', reads],
      transcriptionLanguage: ['language of the caller', '`language`', names],
      ...voice,
      ...recogniser,
      interruptible: [
        'input that interrupts the speech: `any`, `speech`, `dtmf`, `none`; `true` is `any`, `false` is `none`',
        '`any`',
        reads,
      ],
      interruptSensitivity: [
        'words that interrupt: `high`: one word; `medium`: two; `low`: two, whose recognition is final',
        '`high`',
        reads,
      ],
      ignoreBackchannel: ['words such as “uh-huh” do not interrupt', '`true`', reads],
      ignorebackchannel: ['the same', '', lower],
      reportInputDuringAgentSpeech: [
        'input over speech that it cannot interrupt, which the server receives: `none`, `dtmf`, `speech`, `any`',
        '`none`',
        reads,
      ],
      dtmfDetection: ['whether the server receives keys', 'false', reads],
      preemptible: ['whether later speech replaces what is being said', 'false', reads],
      partialPrompts: ['whether the server receives words before the end of a turn', 'false', reads],
      speechTimeout: [
        'silence that ends a turn, in ms, 100 to 10,000; `auto`: by the meaning of the words',
        '`auto`',
        reads,
      ],
      speechtimeout: ['the same', '', lower],
      hints: ['words for the recogniser, separated by commas', '', defaults],
      events: ['further [messages](#text-servers): `tokens-played`, `speaker-events`', 'none', reads],
      debug: ['the same, and `debugging`', 'none', reads],
    },
  ),
  ...rowsOf(
    'Connect/ConversationRelay/Language',
    relay,
    ['language that the server may use, with its voice', reads],
    {
      code: ['language', 'needed', 'takes the voice of its language from the list'],
      ttsProvider: ['provider of its voice', '`ElevenLabs`', reads],
      voice: ['its voice', 'that of the engine', reads],
      transcriptionProvider: [
        'recogniser',
        '',
        'warns of what has no effect, and is not refused for it',
        unused,
      ],
      speechModel: [
        'model of the recogniser',
        '',
        'warns of what has no effect, and is not refused for it',
        unused,
      ],
    },
  ),
  ...rowsOf(
    'Connect/ConversationRelay/Parameter',
    relay,
    ['parameter that the server receives', 'connects the server, and requests the action with the result'],
    {
      name: ['its name', 'needed', 'connects the server, and requests the action with the result'],
      value: ['its value', 'empty', 'connects the server, and requests the action with the result'],
    },
  ),
]
