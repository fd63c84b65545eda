"""The programs of Barrow's appendix (2011, 4.1-4.5) in Python 3 and numpy 2, otherwise as is.

Names, order of statements and all mistakes are those of the thesis; a comment marks each mistake,
with its flag of Mathematics 8.4 if it has one. `example[j]*BR*self.means[c][j]` lost a minus at the
line break: it is written here as in the thesis's `probDependent`. Other changes:
shuffles take a seed, numpy's names are imported one by one, a class may be tested by way of a
subclass, and `Classifier.column_sort = False` in one orders whole rows by class instead.

A data matrix has one example per row, its class 0..k-1 in the last column.
"""

# ruff: noqa: N802 - names of the thesis
# ruff: noqa: T201 - the thesis' complaints
# ruff: noqa: A004 - `from numpy import *` hides the built-in sum
# ruff: noqa: PERF401 - loops as printed

import itertools
import math
import random
from operator import itemgetter

from numpy import append, array, cov, log, mean, shape, sort, sum, trace, transpose, var, zeros


class Classifier:
    """Statistics per class, and the normal density (4.1)."""

    column_sort = True

    def __init__(self, classlist, datamatrix, k=0):
        self.classes = sort(classlist)
        self.data = array(datamatrix)
        if self.column_sort:
            # column_sort: every column for itself, so rows and classes come apart.
            self.data = sort(self.data, axis=0)
        else:
            self.data = self.data[self.data[:, -1].argsort(kind="stable")]
        self.npoints = shape(self.data)[0]
        self.nattributes = shape(self.data)[1] - 1
        self.nclasses = len(self.classes)
        self.classdata = self.classconditioned()

    def buildessentials(self):
        print("A subclass has accessed a fake superclass method: buildessentials.")

    def evaluate(self, example):
        # StrongKNB has no evaluate of its own: it answers None, and runTest then adds 1 to
        # every cell of the row.
        print("A subclass has accessed a fake superclass method: evaluate.")

    def classconditioned(self):
        """Blocks of rows, one per class; the data are ordered by class."""
        conditioned = []
        minindex = 0
        maxindex = 0
        for c in range(self.nclasses):
            currentclass = self.classes[c]
            while maxindex < self.npoints and currentclass == self.data[maxindex, -1]:
                maxindex += 1
            tempmatrix = self.data[minindex:maxindex, 0:-1]
            conditioned.append(tempmatrix)
            minindex = maxindex
        return conditioned

    def normprob(self, value, attribute, c):
        """Density of a value of an attribute in class c."""
        mean = self.means[c][attribute]
        variance = self.variances[c][attribute]
        if variance == 0:
            variance = 10**-5  # zero_variance
        p = (1 / variance) * self.phi((value - mean) / (variance**0.5))  # inv_variance
        if p > 0:
            return p
        if p == 0:
            print("Error: normprob returning zero.")
            return 10**-100  # a floor of its own, unlike logNormProb's
        if p < 0:
            print("Error: normprob returning a negative number.")
            return 10**-1000  # which is 0.0
        return None

    def logNormProb(self, value, attribute, c):
        """Log density of a value of an attribute in class c."""
        mean = self.means[c][attribute]
        variance = self.variances[c][attribute]
        if variance == 0:
            print("Warning: logNormProb encountered variance of zero.")
            variance = 10**-5  # zero_variance
        return log(1 / variance) + self.logPhi((value - mean) / (variance**0.5))  # inv_variance

    def phi(self, value):
        """Standard normal density."""
        p = (1 / ((2 * math.pi) ** 0.5)) * (math.e ** (-0.5 * (value**2)))
        if p > 0:
            return p
        print("Error: phi returning non-positive number.")
        return 10**-1000  # which is 0.0

    def logPhi(self, value):
        """Log of the standard normal density, by way of the density."""
        p = (1 / ((2 * math.pi) ** 0.5)) * (math.e ** (-0.5 * (value**2)))
        if p > 0:
            return log(p)
        if p == 0:
            return -1000000  # log_phi_floor: the exponential underflows
        if p < 0:
            print("Error: logPhi calculated a negative probability")
            return -1000000
        print("Error: logPhi reached an unreachable line")
        print("Value =", value)
        return None


class NaiveBayes(Classifier):
    """Naive Bayes (4.2)."""

    def __init__(self, classlist, datamatrix, k=0):
        Classifier.__init__(self, classlist, datamatrix)
        [self.means, self.variances] = self.buildessentials()

    def buildessentials(self):
        means = []
        variances = []
        for c in range(self.nclasses):
            means.append([mean(self.classdata[c][:, i]) for i in range(self.nattributes)])
            variances.append([var(self.classdata[c][:, i]) for i in range(self.nattributes)])
        return [means, variances]

    def evaluate(self, example):
        """Class of largest p."""
        pmax = 0
        cmax = -1
        for c in range(self.nclasses):
            p = 1  # no_prior
            for i in range(len(example)):
                p *= self.normprob(example[i], i, c)
            if p > pmax:
                pmax = p
                cmax = c
        if cmax == -1:
            print("Error: cmax referenced before assignment in evaluate(", example, ")")
            cmax = 0  # a product that underflows in every class is class 0
        return cmax

    def logEvaluate(self, example):
        """Class of largest log p."""
        pmax = -1000  # no class below this is ever chosen, so log_phi_floor means class 0
        cmax = -1
        for c in range(self.nclasses):
            p = 0  # no_prior
            for i in range(len(example)):
                p += self.logNormProb(example[i], i, c)
            if p > pmax:
                pmax = p
                cmax = c
        if cmax == -1:
            print("Error: cmax referenced before assignment in logEvaluate(", example, ")")
            cmax = 0
        return cmax


class FullBayes(Classifier):
    """Full Bayes by sums of single regressions (4.3)."""

    def __init__(self, classlist, datamatrix, k=0):
        Classifier.__init__(self, classlist, datamatrix)
        [self.covs, self.means, self.variances] = self.buildessentials()

    def buildessentials(self):
        covariances = []
        for i in range(len(self.classdata)):
            covariances.append(cov(transpose(self.classdata[i])))  # ddof: 1 here, 0 below
        means = []
        variances = []
        for c in range(self.nclasses):
            means.append([mean(self.classdata[c][:, i]) for i in range(self.nattributes)])
            variances.append([var(self.classdata[c][:, i]) for i in range(self.nattributes)])
        return [covariances, means, variances]

    def evaluate(self, example):
        """Class of largest p; without one, an UnboundLocalError."""
        pmax = 0
        for c in range(self.nclasses):
            p = 1  # no_prior
            for i in range(len(example)):
                trueattvalue = example[i]
                for j in range(len(example)):
                    if i != j:
                        # linear_model: one 1/σ_j short. zero_variance is not mended here.
                        trueattvalue -= self.covs[c][i, j] * (
                            (example[j] - self.means[c][j]) / (self.variances[c][j] ** 0.5)
                        )
                printme = self.normprob(trueattvalue, i, c)
                p *= printme
            if p > pmax:
                pmax = p
                cmax = c
        return cmax

    def logEvaluate(self, example):
        """Class of smallest |log p|."""
        pmax = 100000000
        cmax = -1
        for c in range(self.nclasses):
            p = 0  # no_prior
            for i in range(len(example)):
                trueattvalue = example[i]
                for j in range(len(example)):
                    if i != j:
                        # linear_model, as above
                        trueattvalue -= self.covs[c][i, j] * (
                            (example[j] - self.means[c][j]) / (self.variances[c][j] ** 0.5)
                        )
                p += self.logNormProb(trueattvalue, i, c)
            if abs(p) < abs(pmax):  # abs_logp
                pmax = p
                cmax = c
        if cmax == -1:
            print("Error: cbest referenced before assignment in FullBayes' logEvalute(", example)
            cmax = 0
        return cmax


class StrongKNB(Classifier):
    """Strong and weak k-naive Bayes (4.4)."""

    def __init__(self, classlist, datamatrix, k=0, exactlyK=True, strong=True):
        Classifier.__init__(self, classlist, datamatrix)
        [self.covs, self.means, self.variances] = self.buildessentials()
        self.k = k
        self.weights = [self.attributeWeight(att) for att in range(self.nattributes)]
        self.attributes = range(self.nattributes)
        self.independents = self.optimalnaivete(self.k, exactlyK)
        self.dependents = list(set(self.attributes) - set(self.independents))
        self.strong = strong

    def buildessentials(self):
        covariances = []
        for i in range(len(self.classdata)):
            covariances.append(cov(transpose(self.classdata[i])))  # ddof: 1 here, 0 below
        means = []
        variances = []
        for c in range(self.nclasses):
            means.append([mean(self.classdata[c][:, i]) for i in range(self.nattributes)])
            variances.append([var(self.classdata[c][:, i]) for i in range(self.nattributes)])
        return [covariances, means, variances]

    def linearModel(self, example, attribute, c):
        """Log p(x_i | all others, c)."""
        trueattvalue = example[attribute]
        for j in range(len(example)):
            if j != attribute:
                if self.variances[c][j] == 0:
                    self.variances[c][j] = 10**-6  # zero_variance: stored, so it stays
                # linear_model: one 1/σ_j short
                x = self.covs[c][attribute, j] * (
                    (example[j] - self.means[c][j]) / (self.variances[c][j] ** 0.5)
                )
                trueattvalue -= x
        return self.logNormProb(trueattvalue, attribute, c)

    def probDependent(self, example, attribute, c):
        """Log p(x_i | the other dependents, c) if strong, else p(x_i | all others, c)."""
        trueattvalue = example[attribute]
        if self.strong:
            for att in self.dependents:
                if att != attribute:
                    # linear_model, as above
                    trueattvalue -= self.covs[c][attribute, att] * (
                        (example[att] - self.means[c][att]) / (self.variances[c][att] ** 0.5)
                    )
        if not self.strong:
            for att in self.attributes:
                if att != attribute:
                    trueattvalue -= self.covs[c][attribute, att] * (
                        (example[att] - self.means[c][att]) / (self.variances[c][att] ** 0.5)
                    )
        return self.logNormProb(trueattvalue, attribute, c)

    def dependenceDerivative(self, example, attribute, c):
        """Log dd_c(x_i, E)."""
        top = self.linearModel(example, attribute, c)
        bottom = self.logNormProb(example[attribute], attribute, c)
        return top - bottom

    def ddr(self, example, attribute):
        """Log ddr; + is class 0, - is class 1, and further classes are ignored."""
        return self.dependenceDerivative(example, attribute, 0) - self.dependenceDerivative(
            example, attribute, 1
        )

    def attributeWeight(self, attribute):
        """Mean log ddr (Definition 2.2.3 has the log of the mean)."""
        # column_sort again: these examples are rows of order statistics, not data points.
        ddrs = [self.ddr(example[0:-1], attribute) for example in self.data]
        return sum(ddrs) / self.npoints

    def optimalnaivete(self, k, exactlyK=True):
        """Set of weight closest to 1: size k first, then 1..k-1; the earliest wins a tie."""
        perms = list(itertools.combinations(range(self.nattributes), k))
        if not exactlyK:
            for i in range(1, k):
                perms.extend(list(itertools.combinations(range(self.nattributes), i)))
        bestweightsum = -10000000
        for perm in perms:
            perm = list(perm)  # noqa: PLW2901 - as printed
            weightsum = sum([self.weights[attribute] for attribute in perm])
            if abs(weightsum) < abs(bestweightsum):
                bestperm = perm
                bestweightsum = weightsum
        return bestperm

    def logEvaluate(self, example):
        """Class of smallest |log p|."""
        pbest = 1000000000
        cbest = -1
        for c in self.classes:  # class labels used as indices
            p = 0  # no_prior
            for att in self.independents:
                p += self.logNormProb(example[att], att, c)
            for otheratt in self.dependents:
                p += self.probDependent(example, otheratt, c)
            if abs(p) < abs(pbest):  # abs_logp
                cbest = c
                pbest = p
        if cbest == -1:
            print("Error: cbest referenced before assignment in StrongKNB's logEvalute(", example)
            cbest = 0
        return cbest


class TestHarness:
    """Tests and metrics (4.5)."""

    __test__ = False  # pytest would take the name for a test's

    def __init__(self, trainingdata, classes, inclassifier, k=0, exactlyK=True, strong=True):
        self.k = k
        self.inclassifier = inclassifier
        if issubclass(self.inclassifier, StrongKNB):
            self.classifier = self.inclassifier(classes, trainingdata, k, exactlyK, strong=strong)
        else:
            self.classifier = self.inclassifier(classes, trainingdata)
        self.classes = classes
        self.nclasses = len(classes)
        self.trainingdata = trainingdata
        self.exactlyK = exactlyK

    def randomize(self, array, seed):
        """Shuffle an array."""
        generator = random.Random(seed)
        pairs = []
        for element in array:
            pairs.append([generator.random(), element])
        pairs = sorted(pairs, key=itemgetter(0))
        return [pairs[i][1] for i in range(len(pairs))]

    def runTest(self, testdata):
        """Error matrix of the existing classifier; rows are actual, columns predicted."""
        errormatrix = [zeros(self.nclasses) for i in range(self.nclasses)]
        for row in testdata:
            c = int(row[-1])
            example = row[0:-1]
            errormatrix[c][self.classifier.evaluate(example)] += 1
        return errormatrix

    def runLogTest(self, testdata):
        """As above, by logarithms."""
        errormatrix = [zeros(self.nclasses) for i in range(self.nclasses)]
        for row in testdata:
            c = int(row[-1])
            example = row[0:-1]
            errormatrix[c][self.classifier.logEvaluate(example)] += 1
        return errormatrix

    def flatten(self, listOfLists):
        return itertools.chain.from_iterable(listOfLists)

    def crossValidatedTest(self, folds, seed):
        """Error matrix over all folds."""
        assert 1 < folds <= self.classifier.npoints
        errormatrix = array([zeros(self.nclasses) for i in range(self.nclasses)])
        foldsize = int(self.classifier.npoints / folds)  # drop_remainder
        tempdata = self.randomize(self.trainingdata, seed)
        for _ in range(folds):
            testdata = tempdata[0:foldsize]
            tempdata = tempdata[foldsize:]
            tempdata = array(tempdata)
            # cv_ignores_strong, and here exactlyK too
            self.classifier = self.inclassifier(self.classes, tempdata, self.k)
            errormatrix = errormatrix + array(self.runTest(testdata))
            tempdata = append(tempdata, testdata, axis=0)
        return errormatrix

    def logCrossValidatedTest(self, folds, seed):
        """As above, by logarithms."""
        assert 1 < folds <= self.classifier.npoints
        errormatrix = array([zeros(self.nclasses) for i in range(self.nclasses)])
        foldsize = int(self.classifier.npoints / folds)  # drop_remainder
        tempdata = self.randomize(self.trainingdata, seed)
        for _ in range(folds):
            testdata = tempdata[0:foldsize]
            tempdata = tempdata[foldsize:]
            tempdata = array(tempdata)
            if issubclass(self.inclassifier, StrongKNB):
                # cv_ignores_strong
                self.classifier = self.inclassifier(self.classes, tempdata, self.k, self.exactlyK)
            else:
                self.classifier = self.inclassifier(self.classes, tempdata)
            errormatrix = errormatrix + array(self.runLogTest(testdata))
            tempdata = append(tempdata, testdata, axis=0)
        return errormatrix

    # harness_metrics: all below, only from rates of the actual classes

    def accuracy(self, errormatrix):
        errormatrix = array(errormatrix)
        return trace(errormatrix) / sum(errormatrix)

    def truePositiveRate(self, errormatrix, classvalue=0):
        return errormatrix[classvalue][classvalue] / sum(errormatrix[classvalue])

    def falsePositiveRate(self, errormatrix, classvalue=0):
        """Actually the rate of false negatives."""
        errormatrix = array(errormatrix)
        return (sum(errormatrix[classvalue]) - errormatrix[classvalue][classvalue]) / sum(
            errormatrix[classvalue]
        )

    def precision(self, errormatrix, classvalue=0):
        """Actually the true positive rate: the denominator is 1."""
        return self.truePositiveRate(errormatrix, classvalue) / (
            self.truePositiveRate(errormatrix, classvalue)
            + self.falsePositiveRate(errormatrix, classvalue)
        )

    def recall(self, errormatrix, classvalue=0):
        """Actually the precision for classes of equal size."""
        if classvalue == 0:
            return self.truePositiveRate(errormatrix, 0) / (
                self.truePositiveRate(errormatrix, 0) + self.falsePositiveRate(errormatrix, 1)
            )
        if classvalue == 1:
            return self.truePositiveRate(errormatrix, 1) / (
                self.truePositiveRate(errormatrix, 1) + self.falsePositiveRate(errormatrix, 0)
            )
        return None

    def fscore(self, errormatrix, classvalue=0):
        return (
            2 * self.precision(errormatrix, classvalue) * self.recall(errormatrix, classvalue)
        ) / (self.precision(errormatrix, classvalue) + self.recall(errormatrix, classvalue))

    def specificity(self, errormatrix, classvalue=0):
        """The other class's "recall"."""
        if classvalue == 0:
            return self.truePositiveRate(errormatrix, 1) / (
                self.truePositiveRate(errormatrix, 1) + self.falsePositiveRate(errormatrix, 0)
            )
        if classvalue == 1:
            return self.truePositiveRate(errormatrix, 0) / (
                self.truePositiveRate(errormatrix, 0) + self.falsePositiveRate(errormatrix, 1)
            )
        return None

    def sensitivity(self, errormatrix, classvalue=0):
        return self.recall(errormatrix, classvalue)
