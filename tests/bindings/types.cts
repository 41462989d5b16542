// The same package as CommonJS.
import weir = require('weir-context');
import frameworks = require('weir-context/frameworks');

const tokens: Promise<number> = weir.count('x');
const context: Promise<frameworks.Context> = frameworks.Context.create();
export = { context, tokens };
