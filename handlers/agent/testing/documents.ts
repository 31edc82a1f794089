/** Documents in the shapes that the vendor's agent SDK emits, written by hand. */

/** Base of the SDK's routes, with the credentials of its Basic authentication. */
const base = 'https://agent:secret@agents.example'

const secure = (name: string, token: string): string => `${base}/swaig?__token=${token}&function=${name}`

/** Prefab that gathers answers, as its `ai` method. */
export const infoGatherer = {
  prompt: {
    pom: [
      {
        title: 'Objective',
        body: 'Get answers to a series of questions. Begin by asking if the caller is ready.',
      },
      {
        title: 'Rules',
        bullets: ['Ask one question at a time.', 'Confirm an answer before submitting it.'],
      },
    ],
    temperature: 0.3,
    top_p: 1.0,
    barge_confidence: 0.0,
    presence_penalty: 0.1,
    frequency_penalty: 0.1,
  },
  post_prompt: { text: 'Return a JSON object with the answers.', temperature: 0 },
  post_prompt_url: `${base}/post_prompt`,
  params: { ai_model: 'gpt-4o-mini', end_of_speech_timeout: 800, speech_event_timeout: '1000' },
  global_data: {
    questions: [{ key_name: 'name', question_text: 'Your name?', confirm: true }],
    question_index: 0,
    answers: [],
  },
  languages: [{ name: 'English', code: 'en-US', voice: 'rime.spore' }],
  SWAIG: {
    defaults: { web_hook_url: `${base}/swaig` },
    functions: [
      {
        function: 'start_questions',
        description: 'Start the question sequence with the first question',
        parameters: { type: 'object', properties: {} },
        web_hook_url: secure('start_questions', 'abc.def'),
      },
      {
        function: 'submit_answer',
        description: 'Submit an answer and move to the next question',
        parameters: {
          type: 'object',
          properties: { answer: { type: 'string', description: "The user's answer" } },
          required: ['answer'],
        },
        fillers: { 'en-US': ['One moment.', 'Let me note that.'] },
        web_hook_url: secure('submit_answer', 'ghi.jkl'),
      },
    ],
  },
}

/** Data map of a skill that tells jokes: an array as response, and an output without one. */
export const jokeMap = {
  webhooks: [
    {
      url: 'https://api.jokes.example/v1/%{args.type}',
      method: 'GET',
      headers: { 'X-Api-Key': 'key-123' },
      output: {
        response: 'Tell this joke: %{array[0].joke}',
        action: [{ set_global_data: { last_joke: '%{array[0].joke}' } }],
      },
      error_keys: ['error'],
    },
  ],
  output: { response: 'There is no joke today.' },
}

/** Data map of a weather skill. */
export const weatherMap = {
  webhooks: [
    {
      url: 'https://api.weather.example/current.json?q=%{lc:enc:url:args.location}',
      method: 'GET',
      output: { response: `It is \${current.temp_c} degrees, \${current.condition.text}.` },
      error_keys: 'error',
    },
  ],
  output: { response: 'The weather cannot be found.' },
  error_keys: ['error'],
}

/** Agent with skills: native functions, includes, hints, pronunciation and two languages. */
export const skills = {
  prompt: { text: `You are a helpful assistant. The date is \${call.date}.` },
  params: {
    wait_for_user: 'false',
    ai_volume: 5,
    local_tz: 'America/New_York',
    background_file: 'https://cdn.example/office.mp3',
    background_file_volume: -30,
    some_new_param: true,
  },
  hints: [
    'SWAIG',
    'SWML',
    { hint: 'SignalWire', pattern: 'signal ?wire', replace: 'SignalWire', ignore_case: true },
  ],
  pronounce: [{ replace: 'API', with: 'A P I', ignore_case: false }],
  languages: [
    {
      name: 'English',
      code: 'en-US',
      voice: 'rachel',
      engine: 'elevenlabs',
      model: 'eleven_turbo_v2_5',
      speech_fillers: ['hm'],
      function_fillers: ['one moment'],
    },
    { name: 'Spanish', code: 'es', voice: 'polly.Lupe', fillers: ['vale'], params: { speed: 1.1 } },
  ],
  SWAIG: {
    defaults: {
      web_hook_url: 'https://agents.example/swaig',
      web_hook_auth_user: 'u',
      web_hook_auth_pass: 'p:w',
    },
    native_functions: ['check_time', 'wait_seconds'],
    includes: [
      {
        url: 'https://more.example/swaig',
        functions: ['search'],
        user: 'a',
        pass: 'b',
        meta_data: { k: 'v' },
      },
    ],
    internal_fillers: { check_time: { 'en-US': ['Looking at the clock.'] } },
    mcp_servers: [
      { url: 'https://mcp.example/mcp', headers: { authorization: 'Bearer x' }, resources: 'true' },
    ],
    functions: [
      {
        function: 'get_joke',
        description: 'Tells a joke',
        parameters: { type: 'object', properties: { type: { type: 'string', enum: ['jokes', 'dadjokes'] } } },
        data_map: jokeMap,
      },
      {
        function: 'startup_hook',
        description: 'Called at the start',
        parameters: { type: 'object', properties: {} },
        meta_data_token: 'shared',
      },
      {
        function: 'old_style',
        purpose: 'Old names',
        argument: { type: 'object', properties: {} },
        active: '3',
      },
      { function: 'next_step', description: 'Reserved' },
    ],
  },
}

/** Demonstration of contexts and steps. */
export const contextsDemo = {
  prompt: {
    pom: [{ title: 'Instructions', body: 'Follow the steps.' }],
    contexts: {
      default: {
        steps: [
          {
            name: 'greeting',
            text: '## Current Task\nGreet the caller.',
            step_criteria: 'The caller said what they need',
            functions: 'none',
            valid_contexts: ['sales', 'support'],
            valid_steps: ['next'],
          },
          {
            name: 'details',
            pom: [{ title: 'Task', bullets: ['Ask for the budget'] }],
            functions: ['submit_answer'],
            gather_info: {
              prompt: 'Ask politely.',
              output_key: 'profile',
              completion_action: 'next_step',
              questions: [
                { key: 'age', question: 'How old are you?', type: 'integer', confirm: true },
                { key: 'member', question: 'Are you a member?', type: 'boolean', functions: ['lookup'] },
              ],
            },
          },
          { name: 'done', text: 'Say goodbye.', end: true, skip_user_turn: true },
        ],
      },
      sales: {
        isolated: true,
        system_prompt: 'You are in sales.',
        consolidate: true,
        enter_fillers: { 'en-US': ['Transferring you to sales.'], default: ['One moment.'] },
        steps: [
          { name: 'offer', text: 'Make an offer.', reset: { system_prompt: 'Sell.', full_reset: true } },
        ],
      },
      support: { steps: [{ name: 'help', text: 'Help.', skip_to_next_step: true }] },
    },
  },
  SWAIG: { functions: [] },
}
