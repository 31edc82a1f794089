import { type Row, rowsOf } from './xml-rows.ts'

const agents = 'verbs/connect-ai.test.ts'
const readsAgent = 'reads its document'
const reports = 'sends the report with its credentials'
const likeScript = (key: string) => `as \`${key}\` of the script’s \`ai\``

/** Settings of a prompt of an agent. */
const promptSettings = Object.fromEntries(
  Object.entries({
    temperature: 'temperature',
    topP: 'top_p',
    confidence: 'confidence',
    bargeConfidence: 'barge_confidence',
    presencePenalty: 'presence_penalty',
    frequencyPenalty: 'frequency_penalty',
  }).map(([name, key]) => [name, [likeScript(key), '', readsAgent] as const]),
)

const webhook = {
  webHookURL: ['URL that receives the calls of functions', '', readsAgent],
  webHookAuthUser: ['user of the URL', '', readsAgent],
  webHookAuthPass: ['password of the URL', '', readsAgent],
} as const

/** `AI`: a voice agent. */
export const agentRows: readonly Row[] = [
  ...rowsOf(
    'Connect/AI',
    agents,
    [
      'voice agent: the [agent](#agents) of its document talks to the caller',
      'hands the call to an agent, and the next verb follows',
    ],
    {
      engine: [
        'engine of voices whose names have no engine',
        '',
        'speaks by engine and voice without Languages',
      ],
      voice: ['voice, if there are no `Languages`', '', 'speaks by engine and voice without Languages'],
      postPromptURL: ['URL that receives the report after the conversation', '', reports],
      postPromptAuthUser: ['user of the URL', '', reports],
      postPromptAuthPassword: ['password of the URL', '', reports],
      hints: ['words for the recogniser, separated by commas', '', readsAgent],
    },
  ),
  ...rowsOf('Connect/AI/Prompt', agents, ['what the agent is and does', readsAgent], promptSettings),
  ...rowsOf(
    'Connect/AI/PostPrompt',
    agents,
    ['instruction for the summary in the report', readsAgent],
    promptSettings,
  ),
  ...rowsOf('Connect/AI/Languages', agents, ['languages that the agent speaks', readsAgent]),
  ...rowsOf(
    'Connect/AI/Languages/Language',
    agents,
    ['one of them, the first one to begin with', readsAgent],
    {
      code: ['tag such as `en-US`', 'needed', readsAgent],
      name: ['name for the model', 'name of the tag', readsAgent],
      voice: ['voice', 'that of `AI`', readsAgent],
    },
  ),
  ...rowsOf('Connect/AI/SWAIG', agents, ['functions of the agent', readsAgent]),
  ...rowsOf(
    'Connect/AI/SWAIG/Defaults',
    agents,
    ['webhook of functions without one; each element inside is an entry of their `meta_data`', readsAgent],
    webhook,
  ),
  ...rowsOf(
    'Connect/AI/SWAIG/Function',
    agents,
    ['function; each element inside is an entry of its `meta_data`', readsAgent],
    {
      name: ['name', 'needed', readsAgent],
      argument: ['description of its one argument, `argument`', 'no argument', readsAgent],
      purpose: ['description for the model', 'the name', readsAgent],
      ...webhook,
    },
  ),
]
