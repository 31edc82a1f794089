import { number, type Schema, text, truth, url } from './schema-parts.ts'

const model: Readonly<Record<string, Schema>> = {
  ai_model: text('Model; the configuration maps its name. Default that of the configuration.'),
  engine: text('Engine by its name in the configuration.'),
  ai_name: text('Name of the agent, for speak_when_spoken_to; default computer.'),
  max_response_tokens: number('Maximum length of one answer in tokens.'),
  conscience: text('Reminder that is added at each turn.'),
  pom_format: text('Format of prompts that are object models: markdown or xml; default markdown.'),
  redact_prompt: truth('Whether reports hide the prompt; default false.'),
}

const start: Readonly<Record<string, Schema>> = {
  initial_sleep_ms: number('Wait before the conversation in milliseconds, 0 to 300,000; default 0.'),
  static_greeting: text('First words of the agent, exactly as written.'),
  static_greeting_no_barge: truth('Whether the greeting cannot be interrupted; default false.'),
  wait_for_user: truth('Whether the caller speaks first; default false.'),
  direction: text('Direction that the agent assumes: inbound or outbound; default that of the call.'),
  start_paused: truth('Whether the conversation begins on hold; default false.'),
  enable_pause: truth('Whether the model can pause the conversation; default false.'),
  speak_when_spoken_to: truth('Whether the agent answers only if the caller says its name; default false.'),
  wake_prefix: text('Word before the name, for instance hey.'),
}

const hearing: Readonly<Record<string, Schema>> = {
  openai_asr_engine: text('Recogniser as engine:model; default that of the configuration.'),
  end_of_speech_timeout: number('Silence in milliseconds that ends a turn, 250 to 10,000; default 700.'),
  enable_turn_detection: truth('Whether the meaning of the words may end a turn earlier; default true.'),
  turn_detection_timeout: number('Silence in milliseconds after which the meaning counts; default 250.'),
  first_word_timeout: number('Wait for the first word in milliseconds; default 1000.'),
  speech_event_timeout: number('Wait in milliseconds for a recognition before a turn ends; default 1400.'),
  speech_timeout: number('Longest turn in milliseconds; default 60,000.'),
  digit_timeout: number('Wait for a further key in milliseconds; default 3000.'),
  digit_terminators: text('Keys that end an input of keys.'),
}

const barge: Readonly<Record<string, Schema>> = {
  enable_barge: text(
    'Recognitions that interrupt: complete, partial, all, true or false; default complete,partial.',
  ),
  barge_match_string: text('Regular expression that a recognition must match to interrupt.'),
  barge_min_words: number('Minimum number of words that interrupt, 1 to 99.'),
  barge_functions: truth('Whether running functions can be interrupted; default true.'),
  transparent_barge: truth('Whether an early interruption joins the turn before; default true.'),
  transparent_barge_max_time: number('Time in milliseconds for transparent_barge; default 3000.'),
  acknowledge_interruptions: truth('Whether the agent mentions an interruption; default false.'),
  interrupt_prompt: text('Instruction to the model after an interruption.'),
}

const silence: Readonly<Record<string, Schema>> = {
  attention_timeout: number('Silence in milliseconds after which the agent speaks; 0 is off. Default 5000.'),
  attention_timeout_prompt: text('Instruction to the model after attention_timeout.'),
  outbound_attention_timeout: number(
    'The same for outbound calls before the first words of the callee; default 120,000, or off with ' +
      'attention_timeout.',
  ),
  inactivity_timeout: number(
    'Time in milliseconds without a turn that ends the conversation, 10,000 to 3,600,000; default 600,000.',
  ),
  hard_stop_time: text('Maximum duration of the conversation, for instance 1h45m30s.'),
  hard_stop_prompt: text('Last instruction to the model before the maximum duration.'),
}

const voice: Readonly<Record<string, Schema>> = {
  ai_volume: number('Gain of the voice in dB, -50 to 50; default 0.'),
  background_file: url('Sound behind the conversation.'),
  background_file_loops: number('Number of times that the background is played; default endless.'),
  background_file_volume: number('Gain of the background in dB, -50 to 50; default 0.'),
  hold_music: url('Sound while the conversation is on hold.'),
}

const functions: Readonly<Record<string, Schema>> = {
  function_wait_for_talking: truth('Whether functions start after their phrase; default false.'),
  swaig_allow_settings: truth('Whether replies of functions can change settings; default true.'),
  swaig_allow_swml: truth('Whether replies of functions can run scripts; default true.'),
  swaig_set_global_data: truth('Whether replies of functions can change the global data; default true.'),
  swaig_post_conversation: truth('Whether requests of functions contain the conversation; default false.'),
  swaig_post_swml_vars: {
    title: 'true, false or a list of texts',
    description: "Whether requests contain the script's variables, or their names. Default false.",
  },
  persist_global_data: truth('Whether the global data stays for later agents of the call; default true.'),
  input_poll_freq: number('Interval of check_for_input in milliseconds; default 2000.'),
}

const conversation: Readonly<Record<string, Schema>> = {
  conversation_id: text('Id that joins conversations.'),
  save_conversation: truth(
    'Whether the report URL gets a summary, and is asked for that of the conversation before; default false.',
  ),
  conversation_sliding_window: number(
    'Number of the latest turns that the model sees, and up to half as many before; default all.',
  ),
  convo: { title: 'a list', description: 'Earlier messages with role, content and lang.' },
  transfer_summary: truth('Whether a transfer carries the summary; default false.'),
}

const other: Readonly<Record<string, Schema>> = {
  app_name: text('Name of the application in requests; default swml app.'),
  local_tz: text('Time zone of check_time; default US/Central.'),
  enable_accounting: truth('Whether the report contains the use of the engines; default false.'),
  debug_webhook_url: url('URL that receives events for debugging.'),
  debug_webhook_level: number('Number of events for debugging, 0 to 2; default 1.'),
}

/** Schemas of the parameters that have an effect. */
export const paramSchemas: Readonly<Record<string, Schema>> = {
  ...model,
  ...start,
  ...hearing,
  ...barge,
  ...silence,
  ...voice,
  ...functions,
  ...conversation,
  ...other,
}
