import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

import weka.classifiers.Classifier;
import weka.classifiers.bayes.BayesNet;
import weka.core.Instances;
import weka.core.Version;
import weka.core.converters.ConverterUtils.DataSource;

/**
 * Times a classifier of WEKA on the rows it learns from; the last attribute is the class.
 *
 * <pre>WekaTimes data.arff REPEATS CHECKED CLASSIFIER [OPTION...]</pre>
 *
 * A first pass of training and predicting all rows warms the JVM and is not printed. Then come up to REPEATS passes
 * (a slow one is the last), each printed as seconds of training and of predicting, then the tree of a Bayesian
 * network, then the posteriors of the first CHECKED rows.
 */
public final class WekaTimes {

    private static final double SLOW = 10.0;

    public static void main(String[] args) throws Exception {
        Instances data = DataSource.read(args[0]);
        data.setClassIndex(data.numAttributes() - 1);
        int repeats = Integer.parseInt(args[1]);
        String[] options = Arrays.copyOfRange(args, 4, args.length);
        System.out.println("version\t" + Version.VERSION);
        System.out.println("java\t" + System.getProperty("java.version"));
        Classifier model = null;
        for (int pass = 0; pass <= repeats; pass++) {
            model = Classifier.forName(args[3], options.clone());
            long start = System.nanoTime();
            model.buildClassifier(data);
            long middle = System.nanoTime();
            double sum = 0.0;
            for (int row = 0; row < data.numInstances(); row++) {
                sum += model.distributionForInstance(data.instance(row))[0];
            }
            long end = System.nanoTime();
            if (pass > 0) {
                print("pass", (middle - start) / 1e9, (end - middle) / 1e9, sum);
            }
            if (pass > 0 && (end - start) / 1e9 > SLOW) {
                break;
            }
        }
        if (model instanceof BayesNet) {
            printParents((BayesNet) model, data);
        }
        for (int row = 0; row < Integer.parseInt(args[2]); row++) {
            print("row", model.distributionForInstance(data.instance(row)));
        }
    }

    /** For every attribute the index of its parent besides the class, or -1. */
    private static void printParents(BayesNet net, Instances data) {
        String parents = IntStream.range(0, data.numAttributes() - 1)
            .map(i -> IntStream.range(0, net.getNrOfParents(i))
                .map(p -> net.getParent(i, p))
                .filter(parent -> parent != data.classIndex())
                .findFirst().orElse(-1))
            .mapToObj(Integer::toString)
            .collect(Collectors.joining("\t"));
        System.out.println("parents\t" + parents);
    }

    private static void print(String key, double... values) {
        String texts = DoubleStream.of(values).mapToObj(Double::toString).collect(Collectors.joining("\t"));
        System.out.println(key + "\t" + texts);
    }
}
