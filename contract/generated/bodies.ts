// @ts-nocheck
// Made from contract/openapi.yaml by contract/generator/generate.ts: do not edit, run `npm run contract`.
import type { Schemas } from "./schemas.ts";

/** Why a validator refused a value, in Ajv's terms. */
export type Violation = Readonly<{
  keyword: string;
  instancePath: string;
  params: Readonly<{
    missingProperty?: string;
    type?: string | readonly string[];
    limit?: number;
    exclusiveMinimum?: number;
    maximum?: number;
    allowedValues?: readonly string[];
    unknown?: string;
    known?: readonly string[];
  }>;
}>;

export type JsonBody<Value> = Readonly<{
  kind: "json";
  /** The media types allowed; without them, any JSON will do. */
  types?: readonly string[];
  /** A valid body. */
  example: string;
  /** Sets `errors` for the last value. Converts a `bigint` to a `number` where the schema wants one. */
  isValid: ((value: unknown) => value is Value) & { errors?: readonly Violation[] | null };
}>;

const isNewPlant = validate10;
const schema11 = {"allOf":[{"type":"object","required":["name"],"properties":{"name":{"type":"string","wellFormed":true},"tag":{"type":"string","wellFormed":true}}},{"type":"object","required":["id"],"properties":{"id":{"int64":true}}}]};

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs0 = errors;
if(errors === _errs0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.name === undefined) && (missing0 = "name")){
validate10.errors = [{instancePath,schemaPath:"#/allOf/0/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
let data0 = data.name;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!data0.isWellFormed()){
validate10.errors = [{instancePath:instancePath+"/name",schemaPath:"#/allOf/0/properties/name/wellFormed",keyword:"wellFormed",params:{}}];
return false;
}
}
else {
validate10.errors = [{instancePath:instancePath+"/name",schemaPath:"#/allOf/0/properties/name/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid1 = _errs2 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data.tag !== undefined){
let data1 = data.tag;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(!data1.isWellFormed()){
validate10.errors = [{instancePath:instancePath+"/tag",schemaPath:"#/allOf/0/properties/tag/wellFormed",keyword:"wellFormed",params:{}}];
return false;
}
}
else {
validate10.errors = [{instancePath:instancePath+"/tag",schemaPath:"#/allOf/0/properties/tag/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid1 = _errs4 === errors;
}
else {
var valid1 = true;
}
}
}
}
else {
validate10.errors = [{instancePath,schemaPath:"#/allOf/0/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
var valid0 = _errs0 === errors;
if(valid0){
const _errs6 = errors;
if(errors === _errs6){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing1;
if((data.id === undefined) && (missing1 = "id")){
validate10.errors = [{instancePath,schemaPath:"#/allOf/1/required",keyword:"required",params:{missingProperty: missing1}}];
return false;
}
else {
if(data.id !== undefined){
if(typeof data.id !== "bigint"){
validate10.errors = [{instancePath:instancePath+"/id",schemaPath:"#/allOf/1/properties/id/int64",keyword:"int64",params:{}}];
return false;
}
}
}
}
else {
validate10.errors = [{instancePath,schemaPath:"#/allOf/1/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
var valid0 = _errs6 === errors;
}
validate10.errors = vErrors;
return errors === 0;
}

const isPlantContent = validate11;
const schema12 = {"allOf":[{"type":"object","required":["name"],"properties":{"name":{"type":"string","wellFormed":true},"tag":{"type":"string","wellFormed":true}}},{"type":"object","properties":{"id":{"int64":true}}}]};

function validate11(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs0 = errors;
if(errors === _errs0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.name === undefined) && (missing0 = "name")){
validate11.errors = [{instancePath,schemaPath:"#/allOf/0/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
let data0 = data.name;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(!data0.isWellFormed()){
validate11.errors = [{instancePath:instancePath+"/name",schemaPath:"#/allOf/0/properties/name/wellFormed",keyword:"wellFormed",params:{}}];
return false;
}
}
else {
validate11.errors = [{instancePath:instancePath+"/name",schemaPath:"#/allOf/0/properties/name/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid1 = _errs2 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data.tag !== undefined){
let data1 = data.tag;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(!data1.isWellFormed()){
validate11.errors = [{instancePath:instancePath+"/tag",schemaPath:"#/allOf/0/properties/tag/wellFormed",keyword:"wellFormed",params:{}}];
return false;
}
}
else {
validate11.errors = [{instancePath:instancePath+"/tag",schemaPath:"#/allOf/0/properties/tag/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid1 = _errs4 === errors;
}
else {
var valid1 = true;
}
}
}
}
else {
validate11.errors = [{instancePath,schemaPath:"#/allOf/0/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
var valid0 = _errs0 === errors;
if(valid0){
const _errs6 = errors;
if(errors === _errs6){
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.id !== undefined){
if(typeof data.id !== "bigint"){
validate11.errors = [{instancePath:instancePath+"/id",schemaPath:"#/allOf/1/properties/id/int64",keyword:"int64",params:{}}];
return false;
}
}
}
else {
validate11.errors = [{instancePath,schemaPath:"#/allOf/1/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
var valid0 = _errs6 === errors;
}
validate11.errors = vErrors;
return errors === 0;
}

const isPlantPatch = validate12;
const schema13 = {"type":"object","properties":{"id":{"int64":true},"name":{"type":"string","wellFormed":true},"tag":{"type":["string","null"],"wellFormed":true},"untagged":{"type":"boolean"}},"only":["id","name","tag","untagged"]};

function validate12(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const unknown0 = Object.keys(data).find((name) => !schema13.only.includes(name));
if(unknown0 !== undefined){
validate12.errors = [{instancePath,schemaPath:"#/only",keyword:"only",params:{unknown: unknown0, known: schema13.only}}];
return false;
}
else {
if(data.id !== undefined){
const _errs1 = errors;
if(typeof data.id !== "bigint"){
validate12.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/int64",keyword:"int64",params:{}}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
let data1 = data.name;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data1 === "string"){
if(!data1.isWellFormed()){
validate12.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/wellFormed",keyword:"wellFormed",params:{}}];
return false;
}
}
else {
validate12.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tag !== undefined){
let data2 = data.tag;
const _errs4 = errors;
if((typeof data2 !== "string") && (data2 !== null)){
validate12.errors = [{instancePath:instancePath+"/tag",schemaPath:"#/properties/tag/type",keyword:"type",params:{type: schema13.properties.tag.type}}];
return false;
}
if(errors === _errs4){
if(typeof data2 === "string"){
if(!data2.isWellFormed()){
validate12.errors = [{instancePath:instancePath+"/tag",schemaPath:"#/properties/tag/wellFormed",keyword:"wellFormed",params:{}}];
return false;
}
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.untagged !== undefined){
const _errs6 = errors;
if(typeof data.untagged !== "boolean"){
validate12.errors = [{instancePath:instancePath+"/untagged",schemaPath:"#/properties/untagged/type",keyword:"type",params:{type: "boolean"}}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate12.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate12.errors = vErrors;
return errors === 0;
}

const isPlantChanges = validate13;
const schema14 = {"type":"object","required":["changes"],"properties":{"changes":{"type":"array","minItems":1,"maxItems":1000,"items":{"type":"object","required":["id"],"properties":{"id":{"int64":true},"from":{"type":["object","null"],"required":["name"],"properties":{"id":{"int64":true},"name":{"type":"string","wellFormed":true},"tag":{"type":"string","wellFormed":true}},"only":["id","name","tag"]},"to":{"type":["object","null"],"required":["name"],"properties":{"id":{"int64":true},"name":{"type":"string","wellFormed":true},"tag":{"type":"string","wellFormed":true}},"only":["id","name","tag"]},"delete":{"type":"boolean"}},"only":["id","from","to","delete"]}}},"only":["changes"]};

function validate13(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const unknown0 = Object.keys(data).find((name) => !schema14.only.includes(name));
if(unknown0 !== undefined){
validate13.errors = [{instancePath,schemaPath:"#/only",keyword:"only",params:{unknown: unknown0, known: schema14.only}}];
return false;
}
else {
let missing0;
if((data.changes === undefined) && (missing0 = "changes")){
validate13.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.changes !== undefined){
let data0 = data.changes;
const _errs1 = errors;
if(errors === _errs1){
if(Array.isArray(data0)){
if(data0.length > 1000){
validate13.errors = [{instancePath:instancePath+"/changes",schemaPath:"#/properties/changes/maxItems",keyword:"maxItems",params:{limit: 1000}}];
return false;
}
else {
if(data0.length < 1){
validate13.errors = [{instancePath:instancePath+"/changes",schemaPath:"#/properties/changes/minItems",keyword:"minItems",params:{limit: 1}}];
return false;
}
else {
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
const _errs3 = errors;
if(errors === _errs3){
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
const unknown1 = Object.keys(data1).find((name) => !schema14.properties.changes.items.only.includes(name));
if(unknown1 !== undefined){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0,schemaPath:"#/properties/changes/items/only",keyword:"only",params:{unknown: unknown1, known: schema14.properties.changes.items.only}}];
return false;
}
else {
let missing1;
if((data1.id === undefined) && (missing1 = "id")){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0,schemaPath:"#/properties/changes/items/required",keyword:"required",params:{missingProperty: missing1}}];
return false;
}
else {
if(data1.id !== undefined){
const _errs5 = errors;
if(typeof data1.id !== "bigint"){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/id",schemaPath:"#/properties/changes/items/properties/id/int64",keyword:"int64",params:{}}];
return false;
}
var valid2 = _errs5 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data1.from !== undefined){
let data3 = data1.from;
const _errs6 = errors;
if((!(data3 && typeof data3 == "object" && !Array.isArray(data3))) && (data3 !== null)){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/from",schemaPath:"#/properties/changes/items/properties/from/type",keyword:"type",params:{type: schema14.properties.changes.items.properties.from.type}}];
return false;
}
if(errors === _errs6){
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
const unknown2 = Object.keys(data3).find((name) => !schema14.properties.changes.items.properties.from.only.includes(name));
if(unknown2 !== undefined){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/from",schemaPath:"#/properties/changes/items/properties/from/only",keyword:"only",params:{unknown: unknown2, known: schema14.properties.changes.items.properties.from.only}}];
return false;
}
else {
let missing2;
if((data3.name === undefined) && (missing2 = "name")){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/from",schemaPath:"#/properties/changes/items/properties/from/required",keyword:"required",params:{missingProperty: missing2}}];
return false;
}
else {
if(data3.id !== undefined){
const _errs8 = errors;
if(typeof data3.id !== "bigint"){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/from/id",schemaPath:"#/properties/changes/items/properties/from/properties/id/int64",keyword:"int64",params:{}}];
return false;
}
var valid3 = _errs8 === errors;
}
else {
var valid3 = true;
}
if(valid3){
if(data3.name !== undefined){
let data5 = data3.name;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data5 === "string"){
if(!data5.isWellFormed()){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/from/name",schemaPath:"#/properties/changes/items/properties/from/properties/name/wellFormed",keyword:"wellFormed",params:{}}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/from/name",schemaPath:"#/properties/changes/items/properties/from/properties/name/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid3 = _errs9 === errors;
}
else {
var valid3 = true;
}
if(valid3){
if(data3.tag !== undefined){
let data6 = data3.tag;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data6 === "string"){
if(!data6.isWellFormed()){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/from/tag",schemaPath:"#/properties/changes/items/properties/from/properties/tag/wellFormed",keyword:"wellFormed",params:{}}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/from/tag",schemaPath:"#/properties/changes/items/properties/from/properties/tag/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid3 = _errs11 === errors;
}
else {
var valid3 = true;
}
}
}
}
}
}
}
var valid2 = _errs6 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data1.to !== undefined){
let data7 = data1.to;
const _errs13 = errors;
if((!(data7 && typeof data7 == "object" && !Array.isArray(data7))) && (data7 !== null)){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/to",schemaPath:"#/properties/changes/items/properties/to/type",keyword:"type",params:{type: schema14.properties.changes.items.properties.to.type}}];
return false;
}
if(errors === _errs13){
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
const unknown3 = Object.keys(data7).find((name) => !schema14.properties.changes.items.properties.to.only.includes(name));
if(unknown3 !== undefined){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/to",schemaPath:"#/properties/changes/items/properties/to/only",keyword:"only",params:{unknown: unknown3, known: schema14.properties.changes.items.properties.to.only}}];
return false;
}
else {
let missing3;
if((data7.name === undefined) && (missing3 = "name")){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/to",schemaPath:"#/properties/changes/items/properties/to/required",keyword:"required",params:{missingProperty: missing3}}];
return false;
}
else {
if(data7.id !== undefined){
const _errs15 = errors;
if(typeof data7.id !== "bigint"){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/to/id",schemaPath:"#/properties/changes/items/properties/to/properties/id/int64",keyword:"int64",params:{}}];
return false;
}
var valid4 = _errs15 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data7.name !== undefined){
let data9 = data7.name;
const _errs16 = errors;
if(errors === _errs16){
if(typeof data9 === "string"){
if(!data9.isWellFormed()){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/to/name",schemaPath:"#/properties/changes/items/properties/to/properties/name/wellFormed",keyword:"wellFormed",params:{}}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/to/name",schemaPath:"#/properties/changes/items/properties/to/properties/name/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid4 = _errs16 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data7.tag !== undefined){
let data10 = data7.tag;
const _errs18 = errors;
if(errors === _errs18){
if(typeof data10 === "string"){
if(!data10.isWellFormed()){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/to/tag",schemaPath:"#/properties/changes/items/properties/to/properties/tag/wellFormed",keyword:"wellFormed",params:{}}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/to/tag",schemaPath:"#/properties/changes/items/properties/to/properties/tag/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid4 = _errs18 === errors;
}
else {
var valid4 = true;
}
}
}
}
}
}
}
var valid2 = _errs13 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data1.delete !== undefined){
const _errs20 = errors;
if(typeof data1.delete !== "boolean"){
validate13.errors = [{instancePath:instancePath+"/changes/" + i0+"/delete",schemaPath:"#/properties/changes/items/properties/delete/type",keyword:"type",params:{type: "boolean"}}];
return false;
}
var valid2 = _errs20 === errors;
}
else {
var valid2 = true;
}
}
}
}
}
}
}
else {
validate13.errors = [{instancePath:instancePath+"/changes/" + i0,schemaPath:"#/properties/changes/items/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
var valid1 = _errs3 === errors;
if(!valid1){
break;
}
}
}
}
}
else {
validate13.errors = [{instancePath:instancePath+"/changes",schemaPath:"#/properties/changes/type",keyword:"type",params:{type: "array"}}];
return false;
}
}
}
}
}
}
else {
validate13.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate13.errors = vErrors;
return errors === 0;
}

const isNewToken = validate14;
const schema15 = {"type":"object","required":["name","scopes"],"properties":{"name":{"type":"string","minLength":1,"maxLength":100,"wellFormed":true},"scopes":{"type":"array","minItems":1,"uniqueItems":true,"items":{"type":"string","enum":["plants:read","plants:write","admin"],"wellFormed":true}},"days":{"within":{"exclusiveMinimum":0,"maximum":36500}},"expires":{"type":"string","wellFormed":true}},"only":["name","scopes","days","expires"]};

function validate14(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const unknown0 = Object.keys(data).find((name) => !schema15.only.includes(name));
if(unknown0 !== undefined){
validate14.errors = [{instancePath,schemaPath:"#/only",keyword:"only",params:{unknown: unknown0, known: schema15.only}}];
return false;
}
else {
let missing0;
if(((data.name === undefined) && (missing0 = "name")) || ((data.scopes === undefined) && (missing0 = "scopes"))){
validate14.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.name !== undefined){
let data0 = data.name;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(data0.length > 100 && Array.from(data0).length > 100){
validate14.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/maxLength",keyword:"maxLength",params:{limit: 100}}];
return false;
}
else {
if(data0.length < 1 * 2 && Array.from(data0).length < 1){
validate14.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/minLength",keyword:"minLength",params:{limit: 1}}];
return false;
}
else {
if(!data0.isWellFormed()){
validate14.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/wellFormed",keyword:"wellFormed",params:{}}];
return false;
}
}
}
}
else {
validate14.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.scopes !== undefined){
let data1 = data.scopes;
const _errs3 = errors;
if(errors === _errs3){
if(Array.isArray(data1)){
if(data1.length < 1){
validate14.errors = [{instancePath:instancePath+"/scopes",schemaPath:"#/properties/scopes/minItems",keyword:"minItems",params:{limit: 1}}];
return false;
}
else {
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
const _errs5 = errors;
if(!(((data2 === "plants:read") || (data2 === "plants:write")) || (data2 === "admin"))){
validate14.errors = [{instancePath:instancePath+"/scopes/" + i0,schemaPath:"#/properties/scopes/items/enum",keyword:"enum",params:{allowedValues: schema15.properties.scopes.items.enum}}];
return false;
}
if(errors === _errs5){
if(typeof data2 === "string"){
if(!data2.isWellFormed()){
validate14.errors = [{instancePath:instancePath+"/scopes/" + i0,schemaPath:"#/properties/scopes/items/wellFormed",keyword:"wellFormed",params:{}}];
return false;
}
}
else {
validate14.errors = [{instancePath:instancePath+"/scopes/" + i0,schemaPath:"#/properties/scopes/items/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid1 = _errs5 === errors;
if(!valid1){
break;
}
}
if(valid1){
let i1 = data1.length;
let j0;
if(i1 > 1){
const indices0 = {};
for(;i1--;){
let item0 = data1[i1];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
validate14.errors = [{instancePath:instancePath+"/scopes",schemaPath:"#/properties/scopes/uniqueItems",keyword:"uniqueItems",params:{i: i1, j: j0}}];
return false;
break;
}
indices0[item0] = i1;
}
}
}
}
}
else {
validate14.errors = [{instancePath:instancePath+"/scopes",schemaPath:"#/properties/scopes/type",keyword:"type",params:{type: "array"}}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.days !== undefined){
let data3 = data.days;
const _errs7 = errors;
if(typeof data3 !== "number" && typeof data3 !== "bigint" || data3 <= 0 || data3 > 36500){
validate14.errors = [{instancePath:instancePath+"/days",schemaPath:"#/properties/days/within",keyword:"within",params:schema15.properties.days.within}];
return false;
}
else {
data["days"] = Number(data3);
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.expires !== undefined){
let data4 = data.expires;
const _errs8 = errors;
if(errors === _errs8){
if(typeof data4 === "string"){
if(!data4.isWellFormed()){
validate14.errors = [{instancePath:instancePath+"/expires",schemaPath:"#/properties/expires/wellFormed",keyword:"wellFormed",params:{}}];
return false;
}
}
else {
validate14.errors = [{instancePath:instancePath+"/expires",schemaPath:"#/properties/expires/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate14.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate14.errors = vErrors;
return errors === 0;
}

export const createPlant: JsonBody<Schemas["NewPlant"]> = { kind: "json", example: "{\"id\":1,\"name\":\"Monstera deliciosa\",\"tag\":\"tropical\"}", isValid: isNewPlant };
export const putPlant: JsonBody<Schemas["PlantContent"]> = { kind: "json", example: "{\"name\":\"Monstera deliciosa\",\"tag\":\"tropical\"}", isValid: isPlantContent };
export const patchPlant: JsonBody<Schemas["PlantPatch"]> = { kind: "json", types: ["application/merge-patch+json","application/json"], example: "{\"tag\":null}", isValid: isPlantPatch };
export const changePlants: JsonBody<Schemas["PlantChanges"]> = { kind: "json", example: "{\"changes\":[{\"id\":1,\"from\":{\"name\":\"Monstera deliciosa\"},\"to\":{\"name\":\"Monstera deliciosa\",\"tag\":\"tropical\"}},{\"id\":2,\"from\":{\"name\":\"Ginkgo biloba\",\"tag\":\"tree\"},\"to\":null}]}", isValid: isPlantChanges };
export const createToken: JsonBody<Schemas["NewToken"]> = { kind: "json", example: "{\"name\":\"Anna's phone\",\"scopes\":[\"plants:read\"],\"days\":365}", isValid: isNewToken };
