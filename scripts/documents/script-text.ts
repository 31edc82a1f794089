/** What the page of the script language says above its table. */
export const text: readonly string[] =
  `JSON or YAML, at most 64 kB and 128 levels; YAML may have aliases, which make up to 32,768 values of it:

    version: 1.0.0
    sections:
      main:
        - play: { url: "say:Welcome." }
        - prompt: { play: "say:One for sales.", max_digits: 1 }
        - switch:
            variable: prompt_value
            case: { "1": [{ connect: { to: /public/sales } }] }
            default: [{ execute: { dest: voicemail } }]
      voicemail:
        - record: { beep: true }

The steps of \`main\` run one after the other; after the last one the call is hung up. A step is a method with its parameters, or the bare name of a method that needs none. Sounds are
\`say:<text>\`, \`silence:<seconds>\`, \`ring:[<seconds>:]<country>\`, \`file:<name>\` or the URL of audio; see [sounds.md](sounds.md). Speech: see [handlers.md](handlers.md#speech).

A script is read as a whole before its first step runs. One that is wrong does not run: each fault has a \`relay_script_…\` code, its JSON pointer, line and column.
The JSON Schema for editors is at \`/schemas/script.json\` of the gateway (\`handlers/script/schema.json\` here). A method that cannot do its work when it is run is a warning in the call's log, sets \`<method>_result\` to \`failed\` and
\`script_error\` to the code, and the next step has its turn.

## Where scripts come from

In place, from a file, [stored over the API](api.md#kinds) (\`swml_scripts\`), or from a URL that is asked by POST with this JSON (by GET with \`call_id\` alone), as are those that \`execute\`, \`transfer\`, \`confirm\`, \`wait_url\` and
\`transfer_after_bridge\` name:

    {"call": {"call_id", "node_id", "segment_id", "call_state", "direction", "type", "from", "to", "from_number", "to_number",
              "from_name", "headers": [{"name", "value"}], "parent", "peer", "sip_data": {"sip_req_uri", …}, "project_id", "space_id"},
     "vars": {…}, "envs": {…}, "params": {…}}

\`parent\` and \`peer\` are there on a callee's leg that is to be confirmed. A \`dest\` may also be a section of the same script, or a script as a text of JSON. \`execute\` comes back, \`transfer\`
does not; \`goto\` stays in its section. 32 sections may wait for one another. 32 jumps (\`goto\`, \`execute\`, \`transfer\`) in a row, with nothing between them that takes place on the call, or
more than 10,000 steps and one for each 50 ms end the script with \`relay_script_too_many_transfers\`.

## Variables and expressions

\`%{…}\` and \`\${…}\` are the same (but in the configuration file upper-case names in \`\${…}\` are environment variables). A path such as \`call.headers[0].value\` is looked up; what nobody
set is an empty text. Without a prefix \`vars\`, then \`envs\`, then \`call\` are searched. A text that is exactly one placeholder keeps the type of the value.

| | |
| --- | --- |
| \`call\` | the call, as in the JSON above; read only |
| \`vars\` | set by \`set\` and by methods; kept in sections and other scripts, 256 kB in all. \`vars.userVariables\`: what the page of a browser's call said ([SDK](sdk.md#variables)) |
| \`params\` | of the running \`execute\` or \`transfer\`; given back when that returns |
| \`envs\` | of the [configuration](configuration.md) |

\`%{lc:city}\` is the text at a path in lower case, \`%{enc:url:city}\` encoded for a URL; both can be chained, and work from the left: \`%{lc:enc:url:city}\`.

Functions stand in texts as \`@{…}\`; their arguments may have placeholders, and no functions:

| | |
| --- | --- |
| \`@{strftime_tz Europe/Berlin %A, %H:%M}\` | the time there, in English, by the conversions of \`strftime\` but those of weeks |
| \`@{expr (%{count} + 1) * 2}\` | a calculation with numbers, \`+ - * /\` and parentheses |
| \`@{separate %{code}}\` | its characters with blanks between them, to be spoken one by one |
| \`@{echo %{code}}\` | the same text |

Anything else in a placeholder is a JavaScript expression, as are \`when\` of \`cond\` and of \`goto\`: at most 1,024 characters, 150 ms of a processor and 16 MB, in a sandbox that knows its variables and the
language, and nothing else. No statements, no promises. Where many calls have expressions, that of the call whose expressions took least so far comes first. A step holds at most 2,048 placeholders, whose
values and texts have 128 kB together. An expression that fails makes its step fail; a condition that fails does not hold.

| Method | Sets |
| --- | --- |
| \`play\` | \`play_result\`: success, failed |
| \`prompt\` | \`prompt_result\`: match_digits, match_speech, no_match, no_input, failed; \`prompt_value\`, \`prompt_digit_terminator\`, \`prompt_speech_confidence\` |
| \`connect\` | \`connect_result\`: connected, failed; \`connect_failed_reason\`: busy, no_answer, declined, unreachable, canceled, error; \`return_value\` |
| \`send_digits\` | \`send_digits_result\` |
| \`sip_refer\` | \`sip_refer_to\`, \`sip_refer_result\`: success, busy, no_answer, canceled, failed; \`return_value\`, \`sip_refer_response_code\`, \`sip_refer_to_response_code\` |
| \`join_conference\` | \`join_conference_result\`: completed, failed; \`return_value\` |
| \`join_room\` | \`join_room_result\`: joined, failed |
| \`enter_queue\` | \`queue_result\`: entering, connected, leaving, timeout, hangup, failed; \`wait_time\`, \`entry_position\`, \`entry_size\` |
| \`detect_machine\` | \`detect_result\`: machine, human, fax, unknown, detecting, error; \`detect_machine_beep\`, \`detect_ms\` |
| \`execute\` | \`return_value\` |
| \`request\` | \`request_url\`, \`request_result\`: success, failed (also a status from 400); \`return_value\`, \`request_response_code\`, \`request_response_headers.<name>\`, \`request_response_body\`, \`request_response.<field>\` |
| \`record\` | \`record_result\`: success, no_input, failed; \`record_url\` |
| \`record_call\` | \`record_call_result\`, \`record_call_url\`, \`record_control_id\`; \`stop_record_call\`: \`stop_record_call_result\` |
| \`tap\` | \`tap_result\`, \`tap_uri\`, \`tap_control_id\`, \`tap_ptime\`, \`tap_codec\`, \`tap_rate\`; \`stop_tap\`: \`stop_tap_result\` |
| \`stream\` | \`stream_result\`, \`stream_control_id\`; \`stop_stream\`: \`stop_stream_result\` |
| \`check_hours\` | \`hours_result\`: open, closed |

\`input_sensitivity\` says how much louder than the noise of the line a sound has to be to count as speech: by 9 dB at 44, half a decibel more for each point below (31 dB at 0), and an eighth less
for each above (2 dB at 100). On a line that was still so far, -45 dB of full scale is enough at 44, which moves as far.

\`say_voice\`, \`say_language\` and \`say_gender\` are the voice of every \`say:\` that names none; a gender chooses among [voices](sounds.md#voices) where no voice is named.

## Events

A \`status_url\` is told in the background, by POST:

    {"event_type", "event_channel": "swml:<uuid>", "timestamp": 1767614400.25, "project_id", "space_id",
     "params": {"call_id", "node_id", "segment_id", "control_id", …}}

| Event | Further \`params\` |
| --- | --- |
| \`calling.call.play\` | \`state\`: playing, finished, error |
| \`calling.call.collect\` | \`result\`: \`type\` digit, speech, no_input, no_match, error, start_of_input, with \`params\`; \`final\`, \`state\` |
| \`calling.call.record\` | \`state\`: recording, finished, no_input, error; \`url\`, \`duration\`, \`size\`, \`recording_id\`, \`start_time\`, \`end_time\`, \`record\` |
| \`calling.call.connect\` | \`connect_state\`: connecting, connected, disconnected, failed; \`failed_reason\`, \`peer\` |
| \`calling.call.state\` (\`call_state_url\`) | \`call_state\`: created, ringing, answered, ended; \`direction\`, \`device\`, \`end_reason\`: hangup, busy, no_answer, cancel, declined, error |
| \`calling.call.refer\` | \`state\`, \`sip_refer_to\`, \`sip_refer_response_code\`, \`sip_notify_response_code\` |
| \`calling.call.detect\` | \`detect\`: \`type\` machine, fax; \`params.event\` MACHINE, HUMAN, UNKNOWN, READY, NOT_READY, CED, CNG, finished; \`beep\` |
| \`calling.call.tap\`, \`calling.call.stream\` | \`state\`: tapping, streaming, finished, error; \`tap\`, \`device\`, \`url\`, \`name\` |
| \`calling.script.warning\` (\`status_callback_url\` of a [resource](api.md#kinds), \`call_status_callback_url\` of a domain application) | \`code\` (\`relay_script_…\`), \`message\`, \`path\`, \`document\`, \`line\`, \`column\`: what is wrong with the script, while it runs or so that it does not; 100 of a run at most |
| \`calling.call.queue\` | \`status\`: enqueue, leave, dequeue; \`id\`, \`name\`, \`position\`, \`size\`, \`avg_time\` |
| \`calling.conference\` (\`status_callback\`) | \`status\`: conference-start, conference-end, participant-join, -leave, -mute, -unmute, -hold, -unhold, -speech-start; \`conference_id\`, \`size\`, \`muted\`, \`hold\` |
`.split('\n')
