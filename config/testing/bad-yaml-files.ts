import type { BadFile } from './bad-file.ts'

/** Files with YAML that cannot be read. */
export const yamlFiles: readonly BadFile[] = [
  {
    mistake: 'a line with one space too many',
    text: 'sip:\n  userAgent: Edge\n   dial: carriers\n  listen: []\n',
    faults: [
      'trunkline.yaml:3:4 the line begins with 3 spaces, but the key above it has a value already; use 2 as the line above [yaml-indent]',
    ],
  },
  {
    mistake: 'a line that fits no group above it',
    text: 'http:\n  plain:\n    address: 127.0.0.1\n   port: 8080\ndrain: 5s\n',
    faults: [
      'trunkline.yaml:4:4 the line begins with 3 spaces, and no group above it does; use 4 as `address` in line 3, or 2 as `plain` in line 2, or 0 as `http` in line 1 [yaml-indent]',
    ],
  },
  {
    mistake: 'a key of a list entry without its indentation',
    text: 'domains:\n  - domain: a.example\n  allow: [192.0.2.0/24]\n',
    faults: [
      'trunkline.yaml:3:3 the line begins with 2 spaces, and no group above it does; use 4 as `domain` in line 2, or 0 as `domains` in line 1 [yaml-indent]',
    ],
  },
  {
    mistake: 'tabs',
    text: 'sip:\n\tuserAgent: Edge\n\tdial: carriers\nlimits:\n\tcalls: 5\n',
    faults: ['trunkline.yaml:2:1 a tab indents the line; use spaces, two for each level [yaml-tab]'],
  },
  {
    mistake: 'a list without its bracket',
    text: 'domains:\n  - domain: a.example\n    allow: [192.0.2.0/24\n    maxCalls: 5\n',
    faults: ['trunkline.yaml:3:12 [ has no closing ]; add ] before the next key [yaml-syntax]'],
  },
  {
    mistake: 'a text without its quotation mark',
    text: 'project: "demo\ndrain: 5s\n',
    faults: [
      'trunkline.yaml:1:10 a quotation mark or bracket has no counterpart; close it at the end of the text [yaml-syntax]',
    ],
  },
  {
    mistake: 'a colon in a text without quotes',
    text: 'sip:\n  userAgent: Edge: 2\n',
    faults: [
      'trunkline.yaml:2:14 the value has a colon and a space, so that it looks like a key; put the value in quotes [yaml-syntax]',
    ],
  },
  {
    mistake: 'a colon without a blank',
    text: 'project:demo\ndrain: 5s\n',
    faults: ['trunkline.yaml:1:1 the line has no key; a key ends with a colon and a space [yaml-syntax]'],
  },
  {
    mistake: 'a single word',
    text: 'trunkline\n',
    faults: ['trunkline.yaml:1:1 must be a group of keys, not trunkline [wrong-type]'],
  },
  {
    mistake: 'a text that begins with a reserved letter',
    text: 'sip:\n  userAgent: @edge\n',
    faults: ['trunkline.yaml:2:14 a text cannot begin with this character; put it in quotes [yaml-syntax]'],
  },
  {
    mistake: 'a second text after the first',
    text: 'sip:\n  userAgent: "Edge" two\n',
    faults: [
      'trunkline.yaml:2:21 the line goes on after the end of its value; put the whole value in quotes [yaml-syntax]',
    ],
  },
  {
    mistake: 'a tag',
    text: 'project: !env PROJECT\n',
    faults: [
      'trunkline.yaml:1:10 YAML tags are not supported; put a text that begins with ! in quotes [yaml-tag]',
    ],
  },
  {
    mistake: 'a key that is used twice',
    text: 'drain: 5s\nlimits:\n  calls: 5\n  ring: 20s\n  calls: 6\n',
    faults: ['trunkline.yaml:5:3 the key is used twice in its group (first at line 3) [duplicate-key]'],
  },
  {
    mistake: 'an alias without an anchor',
    text: 'domains:\n  - domain: a.example\n    allow: &nearby [192.0.2.0/24]\n  - domain: b.example\n    allow: *nearbi\n',
    faults: [
      'trunkline.yaml:5:12 no anchor above has the name &nearbi; did you mean `*nearby`? [yaml-alias]',
    ],
  },
  {
    mistake: 'a merge key',
    text: 'domains:\n  - domain: a.example\n    handler: &welcome { kind: xml, url: "https://app.example" }\n  - domain: b.example\n    allow: [192.0.2.0/24]\n    handler:\n      <<: *welcome\n      kind: xml\n      url: https://app.example\n',
    faults: [
      'trunkline.yaml:7:7 domains[1].handler.<<: is not a known key; merge keys are not supported; give a whole group an anchor, and use its alias [unknown-key]',
    ],
  },
  {
    mistake: 'secrets beside a line with one space too many',
    text: 'webhooks:\n  signingKeys:\n    - hunter2-hunter2-hunter2\n   - hunter2-hunter2\nstore: { url: "postgres://u:hunter2@db/x" }\n',
    isExample: false,
    faults: [
      'trunkline.yaml:4:4 the line begins with 3 spaces, and no group above it does; use 2 as `signingKeys` in line 2, or 0 as `webhooks` in line 1 [yaml-indent]',
    ],
  },
  {
    mistake: 'a secret without a blank after the colon',
    text: 'http:\n  apiToken:hunter2-hunter2-hunter2\n',
    isExample: false,
    faults: ['trunkline.yaml:2:3 http: must be a group of keys [wrong-type]'],
  },
  {
    mistake: 'two documents',
    text: 'project: a\n---\nproject: b\n',
    faults: [
      'trunkline.yaml:2:1 a second YAML document begins; the configuration is a single one; remove the line `---` or `...` [yaml-documents]',
    ],
  },
  {
    mistake: 'aliases that multiply',
    text: [
      'a: &a [x, x]',
      ...['b', 'c', 'd', 'e'].map(
        (name, i) => `${name}: &${name} [${Array(11).fill(`*${'abcd'[i]}`).join(', ')}]`,
      ),
    ].join('\n'),
    isExample: false,
    faults: ['trunkline.yaml:1:1 YAML aliases expand to more than 1000 values [yaml-too-large]'],
  },
  {
    mistake: 'brackets nested 20,000 deep',
    text: '['.repeat(20_000),
    isExample: false,
    faults: ['trunkline.yaml:1:1 the YAML is nested too deeply [yaml-too-large]'],
  },
  {
    mistake: 'an empty key',
    text: '"": 1\n',
    faults: ['trunkline.yaml:1:1 [""]: is not a known key [unknown-key]'],
  },
  {
    mistake: 'a list in place of the keys',
    text: '- domain: a.example\n',
    faults: ['trunkline.yaml:1:3 must be a group of keys [wrong-type]'],
  },
]

/** Files that are no text. */
export const otherFiles: readonly BadFile[] = [
  {
    mistake: 'UTF-16',
    text: Buffer.from('\uFEFFproject: demo\n', 'utf16le'),
    faults: ['trunkline.yaml:1:1 is written in UTF-16; save it as UTF-8 [not-utf8]'],
  },
  {
    mistake: 'Latin-1',
    text: Buffer.from('project: demo\nsip: { userAgent: Zürich }\n', 'latin1'),
    faults: ['trunkline.yaml:2:20 has a byte that is not UTF-8; save it as UTF-8 [not-utf8]'],
  },
  {
    mistake: 'a NUL byte',
    text: 'project: demo\ndrain: 5\0s\n',
    isExample: false,
    faults: ['trunkline.yaml:2:9 has a NUL byte: it is no text file, or it is damaged [nul-byte]'],
  },
  {
    mistake: 'a byte order mark and Windows line ends',
    text: '\uFEFFproject: demo\r\nlimits:\r\n  cals: 5\r\n',
    isExample: false,
    faults: ['trunkline.yaml:3:3 limits.cals: is not a known key; did you mean `calls`? [unknown-key]'],
  },
  {
    mistake: 'control characters for the terminal',
    text: 'drain: "\\e[2J"\n',
    isExample: false,
    faults: [
      'trunkline.yaml:1:8 drain: must be a duration such as 500ms, 30s, 5m or 4h, not "\\u001b[2J" [wrong-format]',
    ],
  },
]
