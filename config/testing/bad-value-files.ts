// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is a variable of the configuration.
import type { BadFile } from './bad-file.ts'

/** Files with wrong keys and values. */
export const valueFiles: readonly BadFile[] = [
  {
    mistake: 'a key in lower case',
    text: 'domains:\n  - domain: a.example\n    allow: [192.0.2.0/24]\n    maxcalls: 5\n',
    faults: [
      'trunkline.yaml:4:5 domains[0].maxcalls: is not a known key; did you mean `maxCalls`? [unknown-key]',
    ],
  },
  {
    mistake: 'two swapped letters',
    text: 'drian: 5s\n',
    faults: ['trunkline.yaml:1:1 drian: is not a known key; did you mean `drain`? [unknown-key]'],
  },
  {
    mistake: 'a key at the wrong level',
    text: 'listen:\n  - { transport: udp }\n',
    faults: ['trunkline.yaml:1:1 listen: is not a known key; `listen` belongs to `sip` [unknown-key]'],
  },
  {
    mistake: 'a missing key',
    text: 'subscribers:\n  - email: alice@demo.example\n',
    faults: ['trunkline.yaml:2:5 subscribers[0]: the key password is missing [missing-key]'],
  },
  {
    mistake: 'a wrong network that four domains share',
    text: 'domains:\n  - domain: a.example\n    allow: &nearby\n      - 10.0.0.0/33\n      - 10.0.0/8\n  - { domain: b.example, allow: *nearby }\n  - { domain: c.example, allow: *nearby }\n  - { domain: d.example, allow: *nearby }\n',
    faults: [
      'trunkline.yaml:4:9 domains[0].allow[0]: must be an IP network such as 192.0.2.0/24, not 10.0.0.0/33 [wrong-format]',
      'trunkline.yaml:5:9 domains[0].allow[1]: must be an IP network such as 192.0.2.0/24, not 10.0.0/8 [wrong-format]',
    ],
  },
  {
    mistake: 'a variable that is not set',
    text: 'http:\n  apiToken: ${API_TOKEN}\n',
    faults: [
      'trunkline.yaml:2:13 http.apiToken: the environment variable API_TOKEN is not set; set it, or give a default: ${API_TOKEN:-value} [variable-missing]',
    ],
  },
  {
    mistake: 'a variable with a wrong value, which is not shown',
    text: 'media: { webrtc: { port: "${PORT}" } }\n',
    env: { PORT: 'hunter2' },
    faults: ['trunkline.yaml:1:26 media.webrtc.port: must be a whole number [wrong-type]'],
  },
  {
    mistake: 'ports out of their range',
    text: 'sip:\n  listen: [{ transport: udp, port: 70000 }]\nhttp:\n  plain: { port: -1 }\nmedia:\n  rtp: { ports: { from: 20001 } }\n  webrtc: { port: 1e9 }\n',
    faults: [
      'trunkline.yaml:2:36 sip.listen[0].port: must be from 0 to 65535, not 70000 [out-of-range]',
      'trunkline.yaml:4:18 http.plain.port: must be from 0 to 65535, not -1 [out-of-range]',
      'trunkline.yaml:7:19 media.webrtc.port: must be from 1 to 65535, not 1e9 [out-of-range]',
    ],
  },
  {
    mistake: 'a number too large for any machine',
    text: 'limits: { calls: 1e999 }\n',
    faults: ['trunkline.yaml:1:18 limits.calls: must be a whole number, not 1e999 [wrong-type]'],
  },
  {
    mistake: 'a fraction',
    text: 'limits: { calls: 1.5 }\n',
    faults: ['trunkline.yaml:1:18 limits.calls: must be a whole number, not 1.5 [wrong-type]'],
  },
  {
    mistake: 'wrong types',
    text: 'sip:\n  listen: { transport: udp }\n  userAgent: 5\nlog: { pretty: "yes" }\nlimits: []\ndomains:\n',
    faults: [
      'trunkline.yaml:2:3 sip.listen: must be a list [wrong-type]',
      'trunkline.yaml:3:14 sip.userAgent: must be a text (in quotes if it looks like another type), not 5 [wrong-type]',
      'trunkline.yaml:4:16 log.pretty: must be true or false, not "yes"; did you mean `true`? [wrong-type]',
      'trunkline.yaml:5:1 limits: must be a group of keys [wrong-type]',
      'trunkline.yaml:6:1 domains: must be a list; the key has no value: give it one, or remove it [wrong-type]',
    ],
  },
  {
    mistake: 'a domain twice',
    text: 'domains:\n  - domain: 127.0.0.1\n    allow: [127.0.0.0/8]\n  - { domain: 127.0.0.1, allow: [127.0.0.0/8] }\n',
    faults: [
      'trunkline.yaml:4:15 domains[1].domain: duplicate domain `127.0.0.1` (first at line 2) [duplicate]',
    ],
  },
  {
    mistake: 'two people with one address',
    text: 'subscribers:\n  - { email: a@x.example, password: "${A}", name: ann }\n  - { email: b@x.example, password: "${A}", name: ann }\n',
    env: { A: 'a-long-password' },
    faults: [
      'trunkline.yaml:3:5 subscribers[1]: duplicate address `/public/ann` (first at line 2) [duplicate]',
    ],
  },
  {
    mistake: 'URLs that are none',
    text: 'domains:\n  - domain: a.example\n    allow: [192.0.2.0/24]\n    handler: { kind: xml, url: "htp:/app" }\n  - domain: b.example\n    allow: [192.0.2.0/24]\n    handler: { kind: xml, url: app.example/x }\n',
    faults: [
      'trunkline.yaml:4:32 domains[0].handler.url: must be an http or https URL, not "htp:/app" [wrong-format]',
      'trunkline.yaml:7:32 domains[1].handler.url: must be an http or https URL, not app.example/x [wrong-format]',
    ],
  },
  {
    mistake: 'two swapped letters in a value',
    text: 'domains:\n  - domain: a.example\n    allow: [192.0.2.0/24]\n    handler:\n      kind: scirpt\n      url: https://app.example\n',
    faults: [
      'trunkline.yaml:5:13 domains[0].handler.kind: must be one of xml, script, flow, agent, realtime, not scirpt; did you mean `script`? [unknown-choice]',
    ],
  },
  {
    mistake: 'a duration without a unit',
    text: 'drain: 30\n',
    faults: [
      'trunkline.yaml:1:8 drain: must be a duration such as 500ms, 30s, 5m or 4h, not 30 [wrong-format]',
    ],
  },
  {
    mistake: 'a size without a unit',
    text: 'media: { recordings: { minFree: "1" } }\n',
    faults: [
      'trunkline.yaml:1:33 media.recordings.minFree: must be a size such as 512MiB or 20GiB, not "1" [wrong-format]',
    ],
  },
  {
    mistake: 'streams without a key or without RTMP, which are not shown',
    text: 'rooms:\n  - address: /public/lounge\n    streams:\n      - url: rtmp://live.example/hunter2\n      - url: https://live.example/app/hunter2\n',
    faults: [
      'trunkline.yaml:4:14 rooms[0].streams[0].url: must be a URL such as rtmp://host/application/key, or with rtmps: [wrong-format]',
      'trunkline.yaml:5:14 rooms[0].streams[1].url: must be a URL such as rtmp://host/application/key, or with rtmps: [wrong-format]',
    ],
  },
  {
    mistake: 'a stream twice, which is not shown',
    text: 'rooms:\n  - address: /public/hall\n    streams: [{ url: "rtmp://live.example/app/hunter2" }, { url: "rtmp://live.example/app/hunter2" }]\n',
    isExample: false,
    faults: [
      'trunkline.yaml:3:66 rooms[0].streams[1].url: must differ from the other streams of the room [conflict]',
    ],
  },
  {
    mistake: 'more streams than a room has',
    text: 'rooms:\n  - address: /public/hall\n    streams: [{ url: "${A}1" }, { url: "${A}2" }, { url: "${A}3" }, { url: "${A}4" }]\n',
    env: { A: 'rtmp://live.example/app/key' },
    isExample: false,
    faults: ['trunkline.yaml:3:5 rooms[0].streams: must have at most 3 items [wrong-length]'],
  },
  {
    mistake: 'a key that another one excludes',
    text: 'resources:\n  - address: /public/menu\n    handler: { kind: realtime, topic: office, url: "https://app.example" }\n',
    faults: [
      'trunkline.yaml:3:47 resources[0].handler.url: is not permitted if kind is realtime [misplaced-key]',
    ],
  },
  {
    mistake: 'the id of a project that does not exist',
    text: 'project: demo\nprojects: [{ id: sales }]\ndomains: [{ domain: a.example, allow: [192.0.2.0/24], project: slaes }]\n',
    faults: [
      'trunkline.yaml:3:64 domains[0].project: must be the id of a project, not slaes; did you mean `sales`? [unknown-name]',
    ],
  },
  {
    mistake: 'an even last port',
    text: 'media: { rtp: { ports: { to: 30000 } } }\n',
    faults: [
      'trunkline.yaml:1:30 media.rtp.ports.to: must be odd, because RTCP uses the odd ports [conflict]',
    ],
  },
  {
    mistake: 'a misspelt secret, which is not shown',
    text: 'subscribers:\n  - { email: a@x.example, pasword: hunter2-secret }\n',
    faults: [
      'trunkline.yaml:2:5 subscribers[0]: the key password is missing [missing-key]',
      'trunkline.yaml:2:27 subscribers[0].pasword: is not a known key; did you mean `password`? [unknown-key]',
    ],
  },
  {
    mistake: 'a key of JavaScript objects',
    text: '__proto__: { polluted: yes }\nconstructor: 1\n',
    isExample: false,
    faults: [
      'trunkline.yaml:1:1 __proto__: is not a known key [unknown-key]',
      'trunkline.yaml:2:1 constructor: is not a known key [unknown-key]',
    ],
  },
  {
    mistake: 'a setting that is dangerous',
    text: 'domains:\n  - domain: a.example\n',
    faults: [
      'trunkline.yaml:2:5 warning: domains[0]: any address may send calls to a.example; restrict it by allow or challenge [questionable]',
    ],
  },
]
