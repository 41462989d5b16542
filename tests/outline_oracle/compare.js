// Definitions by tree-sitter against those of the line scanner, file by file.
//
//   node compare.js NODE_MODULES WORK ROOT
//
// Truth is the line on which the name of a function, method or type stands, where it has a body and is
// not inside a function. Recall: of these, how many lines are in the outline. Precision: of the types and
// functions of the outline, how many lines define anything at all, inside functions too.
'use strict';
const fs = require('fs');
const path = require('path');
const { execFileSync } = require('child_process');
const [modules, work, root] = process.argv.slice(2);
const Parser = require(path.join(modules, 'web-tree-sitter'));
const FILES_MAX = 300, FILE_BYTES_MAX = 400000;

// What holds functions, what is a definition, what ends the search for more.
const functions = ['function_definition', 'function_declaration', 'method_definition',
    'method_declaration', 'function_item', 'generator_function_declaration',
    'constructor_declaration', 'method', 'singleton_method'];
const types = ['class_definition', 'class_declaration', 'struct_specifier', 'enum_specifier',
    'union_specifier', 'class_specifier', 'struct_item', 'enum_item', 'trait_item', 'impl_item',
    'mod_item', 'type_item', 'interface_declaration', 'enum_declaration',
    'type_alias_declaration', 'type_spec', 'type_alias', 'record_declaration', 'class', 'module',
    'namespace_definition', 'abstract_class_declaration', 'internal_module'];
// Lines of these (values, prototypes) are no mistake where the outline lists them, but need not be
// there.
const others = ['function_signature', 'method_signature', 'abstract_method_signature',
    'function_signature_item', 'type_definition', 'preproc_def', 'preproc_function_def', 'lexical_declaration',
    'variable_declaration', 'declaration', 'const_declaration', 'var_declaration', 'const_item',
    'static_item', 'macro_definition', 'field_definition', 'public_field_definition', 'pair',
    'assignment', 'const_spec', 'var_spec', 'field_declaration', 'expression_statement',
    'export_statement', 'decorated_definition', 'template_declaration', 'linkage_specification',
    'property_signature', 'call_expression', 'ambient_declaration', 'type_declaration',
    'foreign_mod_item', 'using_declaration', 'alias_declaration', 'concept_definition'];
const anonymous = ['arrow_function', 'function_expression', 'function', 'func_literal', 'lambda',
    'closure_expression', 'lambda_expression'];

const languages = {
    c: { suffixes: ['.c', '.h'], precision: 90, recall: 90 },
    python: { suffixes: ['.py'], precision: 95, recall: 95 },
    javascript: { suffixes: ['.js', '.mjs', '.cjs'], precision: 85, recall: 85 },
    typescript: { suffixes: ['.ts'], precision: 85, recall: 85 },
    tsx: { suffixes: ['.tsx'], precision: 85, recall: 85 },
    go: { suffixes: ['.go'], precision: 95, recall: 95 },
    rust: { suffixes: ['.rs'], precision: 90, recall: 90 },
    java: { suffixes: ['.java'], precision: 90, recall: 90 },
    ruby: { suffixes: ['.rb'], precision: 90, recall: 90 },
};

function languageOf(file) {
    return Object.keys(languages).find(l => languages[l].suffixes.includes(path.extname(file)));
}

/* -- sources -- */

function walk(dir, add, depth) {
    let entries = [];
    try { entries = fs.readdirSync(dir, { withFileTypes: true }); } catch { return; }
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const file = path.join(dir, entry.name);
        if (entry.isDirectory() && depth > 0 && entry.name !== 'test') walk(file, add, depth - 1);
        else if (entry.isFile()) add(file);
    }
}

// Files that an agent read whole, with the numbers of their lines taken off.
function readOfSessions(dir, add) {
    let count = 0;
    const seen = new Set();
    walk(dir, session => {
        const paths = new Map();
        for (const line of fs.readFileSync(session, 'utf8').split('\n')) {
            if (!line) continue;
            const message = JSON.parse(line);
            for (const call of message.tool_calls || []) {
                try { paths.set(call.id, JSON.parse(call.function.arguments).file_path); } catch { }
            }
            const name = paths.get(message.tool_call_id);
            if (message.role !== 'tool' || !name || !languageOf(name) || seen.has(name)) continue;
            const text = String(message.content);
            if (!/^\s*1[\t\u2192]/.test(text)) continue;
            seen.add(name);
            const lines = text.split('\n').map(l => /^\s*\d+[\t\u2192](.*)$/.exec(l)).filter(Boolean);
            const file = path.join(work, `read-${count++}${path.extname(name)}`);
            fs.writeFileSync(file, lines.map(m => m[1]).join('\n') + '\n');
            add(file);
        }
    }, 0);
}

function collect() {
    const files = {};
    const add = file => {
        const language = languageOf(file);
        if (!language || file.endsWith('.min.js')) return;
        const list = files[language] = files[language] || [];
        const bytes = fs.statSync(file).size;
        if (list.length < FILES_MAX && bytes < FILE_BYTES_MAX && bytes) list.push(file);
    };
    readOfSessions(path.join(root, '../shared/traces/normalized'), add);
    for (const dir of ['src', 'tests', 'fuzz', 'bench', 'tools']) walk(path.join(root, dir), add, 2);
    try {
        const os = execFileSync('python3', ['-c', 'import os; print(os.__file__)']).toString();
        walk(path.dirname(os.trim()), add, 0);
    } catch { }
    walk(modules, add, 4);
    walk('/usr/share/nodejs', add, 3);
    walk('/usr/lib/ruby', add, 3);
    return files;
}

/* -- truth -- */

// The names' lines: {must: of functions and types outside of functions, may: of anything}.
function truthOf(tree) {
    const must = new Map(), may = new Set();
    const stack = [[tree.rootNode, false]];
    while (stack.length) {
        const [node, inside] = stack.pop();
        const isFunction = functions.includes(node.type), isType = types.includes(node.type);
        if (isFunction || isType || others.includes(node.type)) {
            const name = node.childForFieldName('name') || node.childForFieldName('declarator') ||
                node.childForFieldName('type');
            const hasBody = isFunction || !/_specifier$/.test(node.type) ||
                node.childForFieldName('body');
            may.add(node.startPosition.row + 1);
            if (name) may.add(name.startPosition.row + 1);
            if (name && !inside && hasBody && (isFunction || isType) && node.isNamed)
                must.set(name.startPosition.row + 1, name.text.split('\n')[0]);
        }
        const within = inside || isFunction || anonymous.includes(node.type);
        for (const child of node.namedChildren) stack.push([child, within]);
    }
    return { must, may };
}

function outlinesOf(files) {
    const text = execFileSync(path.join(work, 'outline'),
        { input: files.join('\n') + '\n', maxBuffer: 1 << 28 }).toString();
    const outlines = new Map();
    let items;
    for (const line of text.split('\n')) {
        if (line.startsWith('# ')) outlines.set(line.slice(2), items = []);
        else if (line) items.push({ line: +line.split(' ')[0], kind: line.split(' ')[1] });
    }
    return outlines;
}

/* -- comparison -- */

async function compare(name, files, show) {
    const file = path.join(modules, 'tree-sitter-wasms/out', `tree-sitter-${name}.wasm`);
    const parser = new Parser();
    parser.setLanguage(await Parser.Language.load(file));
    const outlines = outlinesOf(files);
    const sum = { files: 0, lines: 0, truth: 0, found: 0, said: 0, right: 0 };
    for (const source of files) {
        const text = fs.readFileSync(source, 'utf8');
        const tree = parser.parse(text);
        const broken = tree.rootNode.hasError;
        const truth = truthOf(tree);
        tree.delete();
        if (broken) continue; // what the parser cannot read is no truth
        const items = outlines.get(source), lines = new Set(items.map(i => i.line));
        sum.files++;
        sum.lines += text.split('\n').length;
        for (const [line, what] of truth.must) {
            sum.truth++;
            if (lines.has(line)) sum.found++;
            else if (show) console.log(`missed ${source}:${line}: ${what}`);
        }
        for (const item of items.filter(i => i.kind !== 'value')) {
            sum.said++;
            if (truth.may.has(item.line)) sum.right++;
            else if (show) console.log(`wrong  ${source}:${item.line}: ${text.split('\n')[item.line - 1]}`);
        }
    }
    return sum;
}

async function main() {
    await Parser.init();
    const files = collect();
    let failed = false;
    console.log('language    files    lines  defined  recall%     said  precision%');
    for (const [name, wants] of Object.entries(languages)) {
        const sum = files[name] && await compare(name, files[name], process.env.WEIR_SHOW === name);
        if (!sum || !sum.files) {
            console.log(`${name.padEnd(10)}      no sources here`);
            continue;
        }
        const recall = 100 * sum.found / Math.max(1, sum.truth);
        const precision = 100 * sum.right / Math.max(1, sum.said);
        const low = sum.truth > 50 && (recall < wants.recall || precision < wants.precision);
        failed = failed || low;
        console.log(`${name.padEnd(10)} ${String(sum.files).padStart(6)} ` +
            `${String(sum.lines).padStart(8)} ${String(sum.truth).padStart(8)} ` +
            `${recall.toFixed(1).padStart(8)} ${String(sum.said).padStart(8)} ` +
            `${precision.toFixed(1).padStart(11)}${low ? '  below what is asked' : ''}`);
    }
    process.exitCode = failed ? 1 : 0;
}

main();
