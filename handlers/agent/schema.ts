import type { Json } from './document-types.ts'
import { paramSchemas } from './schema-params.ts'
import {
  anyObject,
  list,
  number,
  object,
  phrases,
  type Schema,
  text,
  texts,
  truth,
  url,
} from './schema-parts.ts'

const modelSettings: Readonly<Record<string, Schema>> = {
  temperature: number('Randomness of the model, 0 to 1.5; default 1.0.'),
  top_p: number('Share of the likeliest words that the model chooses from, 0 to 1; default 1.0.'),
  presence_penalty: number('Penalty of words that were used before, -2 to 2; default 0.'),
  frequency_penalty: number('Penalty of words by their number of uses, -2 to 2; default 0.'),
  max_tokens: number('Maximum length of one answer in tokens; default that of the model.'),
  confidence: number('Minimum confidence of a recognition that ends a turn, 0 to 1; default 0.6.'),
  barge_confidence: number(
    'Minimum confidence of a recognition that interrupts the agent, 0 to 1; default 0.',
  ),
}

const pom = list(
  'Prompt as a list of sections, in place of a text. A section has a body, bullets or subsections.',
  object('Section of a prompt.', {
    title: text('Heading; only the first section can be without one.'),
    body: text('Text.'),
    bullets: texts('List items.'),
    subsections: list('Sections below this one.'),
    numbered: truth('Whether the section has a number; if one has, its siblings have, too.'),
    numberedBullets: truth('Whether the list items have numbers; default false.'),
  }),
)

const reset: Readonly<Record<string, Schema>> = {
  system_prompt: text('Prompt that replaces the present one.'),
  user_prompt: text('Message of the caller that is added.'),
  consolidate: truth('Whether the history is replaced by its summary; default false.'),
  full_reset: truth('Whether the history is dropped; default false.'),
}

const history = text('History while here: keep, default or hide.')

const question = object('Question to the caller.', {
  key: text('Key of the answer in the global data.'),
  question: text('Question.'),
  type: text('Type of the answer: string, integer, number or boolean; default string.'),
  confirm: truth('Whether the caller must confirm the answer; default false.'),
  prompt: text('Instruction for this question.'),
  functions: texts('Names of the functions that the model can call meanwhile.'),
  isolated: truth('Whether the model forgets the history before this question; default false.'),
})

const gather = object('Questions whose answers become global data.', {
  questions: list('Questions, in order.', question),
  prompt: text('Instruction for all questions.'),
  output_key: text('Key of the global data below which the answers are stored.'),
  completion_action: text('Next step after the last answer: next_step or the name of a step.'),
  isolated: truth('Whether the model forgets the history before the first question; default false.'),
})

const step = object('Step of a context.', {
  name: text('Name; not next.'),
  text: text('Instruction.'),
  pom,
  step_criteria: text('Condition under which the step is complete.'),
  functions: texts('Names of the functions that are on, or none; default as in the step before.'),
  valid_steps: texts('Steps that can follow; may contain next. Default the next one.'),
  valid_contexts: texts('Contexts that can follow.'),
  skip_user_turn: truth('Whether the agent goes on without the caller after entering; default false.'),
  skip_to_next_step: truth('Whether the next step follows by itself; default false.'),
  end: truth('Whether the steps end here; the call goes on. Default false.'),
  history,
  reset: object('Change of the history on entering.', reset),
  gather_info: gather,
})

const context = object(
  'Context: a set of steps.',
  {
    steps: {
      ...list('Steps, at least one and at most 100.', step, { types: ['array'] }),
      minItems: 1,
      maxItems: 100,
    },
    text: text('Text that is added to the prompt while in the context.'),
    pom,
    prompt: text('Text, or object with text or pom, that is added to the prompt while in the context.'),
    ...reset,
    isolated: truth('Whether the history is dropped on entering; default false.'),
    enter_fillers: phrases('Phrases on entering'),
    exit_fillers: phrases('Phrases on leaving'),
    post_prompt: text('Instruction for the summary.'),
    valid_contexts: texts('Contexts that can follow.'),
    valid_steps: texts('Steps that can follow.'),
    initial_step: text('First step; default the first one of the list.'),
    history,
  },
  { types: ['object'] },
)

const promptProperties = {
  text: text(`Text of the prompt. It can contain placeholders such as \${global_data.name}.`),
  pom,
  ...modelSettings,
}

const prompt = object(
  'Purpose and behaviour of the agent. It needs a text, a pom or contexts.',
  {
    ...promptProperties,
    contexts: {
      ...anyObject('Contexts by name; default is the first one. At most 50.', { types: ['object', 'null'] }),
      maxProperties: 50,
      additionalProperties: { ...context, required: ['steps'] },
    },
  },
  { types: ['object', 'string'] },
)

const credentials = {
  web_hook_auth_user: text('User for the request, if the URL has none.'),
  web_hook_auth_password: text('Password for the request.'),
}

const aFunction = object('Function that the model can call.', {
  function: text('Name: letters, digits, _ and -.'),
  description: text('Purpose of the function, for the model.'),
  purpose: text('Former name of description.'),
  parameters: { title: 'a JSON Schema', description: 'JSON Schema of the arguments.' },
  argument: { title: 'a JSON Schema', description: 'Former name of parameters.' },
  active: {
    title: 'true, false or a number',
    description: 'Whether it is on, or the number of its uses. Default true.',
  },
  web_hook_url: url('URL that runs the function; default that of defaults.'),
  ...credentials,
  data_map: anyObject('Requests and templates that run the function without a server of its own.'),
  fillers: phrases('Phrases while the function runs'),
  skip_fillers: truth('Whether no phrase is spoken; default false.'),
  wait_file: url('Sound while the function runs, after its phrase and in place of the background.'),
  wait_file_loops: {
    title: 'a number or endless',
    description: 'Number of times that wait_file is played; default endless.',
  },
  wait_for_fillers: truth('Whether the function starts after its phrase; default false.'),
  meta_data: anyObject('Data that each request carries.'),
  meta_data_token: text('Token of functions that share their data; default made of the URL.'),
})

const swaig = object(
  'Functions of the agent.',
  {
    functions: list('Functions.', aFunction),
    defaults: object('Defaults of the functions.', {
      web_hook_url: url('URL that runs the functions.'),
      ...credentials,
    }),
    includes: list(
      'Servers that describe further functions.',
      object('Server with functions.', {
        url: url('URL of the server.'),
        functions: texts('Names of the functions that the server is asked for.'),
        meta_data: anyObject('Data for the server.'),
        user: text('User for the request.'),
        pass: text('Password for the request.'),
      }),
    ),
    native_functions: texts(
      'Functions of the gateway to switch on: check_time, wait_seconds, wait_for_user and others.',
    ),
    internal_fillers: anyObject('Phrases of the functions of the gateway: name, then language.'),
    mcp_servers: list(
      'Servers of the Model Context Protocol whose tools are functions.',
      object('Server of the Model Context Protocol.', {
        url: url('URL of the server.'),
        headers: anyObject('Headers of the requests.'),
        resources: truth('Whether its resources become global data; default false.'),
        resource_vars: anyObject('Variables of the URIs of its resources.'),
      }),
    ),
  },
  { types: ['object', 'array', 'null'] },
)

const voice = {
  voice: text('Voice: engine.voice or engine.voice:model.'),
  engine: text('Engine of the voice, if its name does not contain it.'),
  model: text('Model of the voice.'),
  params: anyObject('Settings of the voice.'),
}

const language = object('Language that the agent understands and speaks.', {
  name: text('Name for the model, for instance English.'),
  code: text('Tag such as en-US, or multi.'),
  listen_language: text('Other name of code.'),
  ...voice,
  emotion: text('auto: the model chooses the emotion.'),
  speech_fillers: texts('Phrases while the model thinks.'),
  function_fillers: texts('Phrases while a function runs.'),
  turn_fillers: texts('Phrases while the caller dictates.'),
  fillers: texts('Former name of speech_fillers and function_fillers.'),
  pronounce: list('Words to speak differently in this language.'),
})

const multilingual = object(
  'Languages between which the recogniser follows the caller. It replaces languages.',
  {
    languages: list(
      'Voices.',
      object('Voice of a language.', { language: text('Tag, or default.'), ...voice }),
    ),
    allowed: texts('Tags of the languages that the caller may speak.'),
    engine: text('Recogniser; default deepgram.'),
    model: text('Model of the recogniser; default nova-3.'),
    provider: text('Accepted; it has no effect.'),
    start_language: text('First language; default en.'),
    min_switch_words: number('Accepted; it has no effect.'),
    fillers: phrases('Phrases while the model thinks'),
    function_fillers: phrases('Phrases while a function runs'),
    turn_fillers: phrases('Phrases while the caller dictates'),
  },
  { types: ['object', 'null'] },
)

/** Schemas of the keys of the `ai` object. */
export const agentProperties: Readonly<Record<string, Schema>> = {
  prompt,
  post_prompt: object('Instruction for the summary after the conversation.', promptProperties, {
    types: ['object', 'string', 'null'],
  }),
  post_prompt_url: url('URL that receives the report after the conversation.'),
  post_prompt_auth_user: text('User for the report, if the URL has none.'),
  post_prompt_auth_password: text('Password for the report.'),
  params: object('Behaviour. Unknown parameters are accepted with a warning.', paramSchemas, {
    types: ['object', 'null'],
  }),
  global_data: anyObject('Data that all functions receive, and that placeholders can name.', {
    types: ['object', 'null'],
  }),
  hints: {
    title: 'a list',
    description: 'Words for the recogniser, or objects with hint, pattern, replace and ignore_case.',
    type: ['array', 'string', 'null'],
  },
  languages: list('Languages; the first one is spoken at the beginning. Default English.', language, {
    types: ['array', 'null'],
  }),
  multilingual,
  pronounce: list(
    'Words to speak differently.',
    object('Word to speak differently.', {
      replace: text('Word to replace.'),
      with: text('Words that are spoken.'),
      ignore_case: truth('Whether case is ignored; default true.'),
    }),
    { types: ['array', 'null'] },
  ),
  SWAIG: swaig,
}

/**
 * JSON Schema of the `ai` object (draft 7), for editors and documentation. It accepts every document that
 * `readAgent` accepts: only parts that keep an agent from running have a type. The titles name the types of
 * the others.
 */
export const agentSchema: Json = {
  title: 'an object of parameters',
  description: 'Runs a voice agent until the call or the conversation ends.',
  type: 'object',
  properties: agentProperties,
  required: ['prompt'],
}
